import { Option } from 'commander';
import { UserError } from '../util/error.ts';

/** A flag that takes a whole number, at least 1. */
export function countOption(flags: string, about: string): Option {
  const option = new Option(flags, about);
  return option.argParser((typed) => {
    const n = Number(typed);
    if (Number.isInteger(n) && n > 0) return n;
    throw new UserError(`${option.long} is "${typed}"; expected a whole number, at least 1`);
  });
}
