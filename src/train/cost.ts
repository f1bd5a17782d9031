/** What a step costs: the engine's work in tokens, and what its matcher asks a judge. */
import type { Usage } from '../engine.ts';
import type { JudgeRequests } from '../record.ts';
import type { Context } from './context.ts';
import { judging } from './judged.ts';
import { metered } from './usage.ts';

/** The same context with both meters; the function reads them for the step's record. @param trained tokens, as the trainee tells */
export function costing(given: Context): readonly [Context, (trained?: number) => { usage: Usage } & JudgeRequests] {
  const [measured, spent] = metered(given);
  const [context, judged] = judging(measured);
  return [context, (trained = 0) => ({ usage: { ...spent(), trained }, ...judged() })];
}
