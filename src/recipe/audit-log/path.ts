/** Where in a row a value is: "label", "reward.info[0].gold", "responses[].answer" (of every item of a list). */
import { UserError } from '../../util/error.ts';

type Step =
  | { readonly kind: 'field'; readonly name: string }
  | { readonly kind: 'item'; readonly index: number }
  | { readonly kind: 'each' };

export interface Path {
  /** As it was written. */
  readonly text: string;
  readonly steps: readonly Step[];
}

export const fieldPath = (name: string): Path => ({ text: name, steps: [{ kind: 'field', name }] });

export function parsePath(text: string): Path {
  const steps: Step[] = [];
  const pattern = /(?:^|\.)([^.[\]]+)|\[(\d*)\]/y;
  while (pattern.lastIndex < text.length) {
    const match = pattern.exec(text);
    if (match === null)
      throw new UserError(
        `"${text}" is no path to a field; expected names like label, reward.info[0].gold or responses[].answer`,
      );
    const [, name, index] = match;
    if (name !== undefined) steps.push({ kind: 'field', name });
    else steps.push(index === '' ? { kind: 'each' } : { kind: 'item', index: Number(index) });
  }
  return { text, steps };
}

/** Undefined when there is no such place. A field whose own name has dots in it goes first. */
export function valueAt(row: unknown, { text, steps }: Path): unknown {
  const whole = fieldOf(row, text);
  return whole === undefined ? follow(row, steps) : whole;
}

function follow(value: unknown, steps: readonly Step[]): unknown {
  const [first, ...rest] = steps;
  if (first === undefined) return value;
  switch (first.kind) {
    case 'field':
      return follow(fieldOf(unpacked(value), first.name), rest);
    case 'item': {
      const list = unpacked(value);
      return Array.isArray(list) ? follow(list[first.index], rest) : undefined;
    }
    case 'each': {
      const list = unpacked(value);
      return Array.isArray(list) ? list.map((item) => follow(item, rest)) : undefined;
    }
    default:
      return first satisfies never;
  }
}

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;

/** Cells of a table hold lists and objects as JSON text. */
export function unpacked(value: unknown): unknown {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}
