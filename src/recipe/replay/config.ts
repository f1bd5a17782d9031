/**
 * Settings of a replay: those of the loop that fitting and answering use, and its own. They decide the values and stand in
 * run.json. Arms and seeds are what a command asks for: a folder has what was asked of it so far, and may be asked for more.
 */
import { z } from 'zod';
import { evolveSchema } from '../config.ts';

export const replaySchema = z.strictObject({
  loop: evolveSchema,
  /** Content id of the bank. */
  bank: z.string(),
  /** Updates of each grader with the full budget. */
  updates: z.int().min(1),
  /** Held-out questions that every fitted grader answers; about so many, spread over the exam. */
  probe: z.int().min(1),
});

export type ReplayConfig = z.infer<typeof replaySchema>;

export interface ReplayRequest {
  /** Names, as in `--plans`. */
  readonly arms: readonly string[];
  readonly seeds: readonly number[];
}
