/** Settings of a replay: those of the loop that fitting and answering use, and its own. */
import { z } from 'zod';
import { evolveSchema } from '../config.ts';

export const replaySchema = z.strictObject({
  loop: evolveSchema,
  /** Content id of the bank. */
  bank: z.string(),
  arms: z.array(z.string()).min(1),
  seeds: z.array(z.int().min(0)).min(1),
  /** Updates of each grader with the full budget. */
  updates: z.int().min(1),
  /** Held-out questions that every fitted grader answers; about so many, spread over the exam. */
  probe: z.int().min(1),
});

export type ReplayConfig = z.infer<typeof replaySchema>;
