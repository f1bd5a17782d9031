/** A run on a server begins only where its sampler and its trainer are the same model. */
import { Option } from 'commander';
import { LARGEST_GAP, measureGap } from '../engine/conformance/gap.ts';
import { digits } from '../engine/conformance/probe.ts';
import { promptsOf } from '../engine/conformance/suite.ts';
import type { Engine } from '../engine.ts';
import { UserError } from '../util/error.ts';
import type { ProgressView } from './progress.ts';

export const maxGapOption = (): Option =>
  new Option('--max-gap <nats>', 'on a server: largest mean difference of sampler and trainer, per token')
    .default(LARGEST_GAP)
    .argParser((typed: string): number => {
      const gap = Number(typed);
      if (typed.trim() === '' || !(gap >= 0)) throw new UserError(`--max-gap is "${typed}"; expected nats, 0 or more`);
      return gap;
    });

/** @throws UserError above `limit`. */
export async function refuseGap(engine: Engine, limit: number, progress: ProgressView): Promise<void> {
  progress.note('comparing sampler and trainer');
  const { mean, worst, tokens } = await measureGap(engine, promptsOf(engine.tokenizer));
  if (Math.abs(mean) <= limit) return;
  throw new UserError(
    `sampler and trainer of the server differ by ${digits(mean)} nats a token (at most ${digits(worst)}, ${tokens} tokens): it would train on another policy than it samples; see "crossfold doctor --engine", or allow it with --max-gap ${digits(Math.abs(mean) * 1.5)}`,
  );
}
