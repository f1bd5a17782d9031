/** Are the rollouts that a run refers to still what was written? A blob is named by its content. */
import type { EvaluationRecord, RunRecord, StepRecord, WriteRecord } from '../../record.ts';
import type { RunReader } from '../../store/read.ts';
import { UserError } from '../../util/error.ts';

/** A line for each blob that is missing or damaged: the step, and what is wrong. */
export async function damagedRollouts(reader: RunReader): Promise<string[]> {
  const problems: string[] = [];
  for await (const { key, value } of reader.events()) {
    const record = value as unknown as RunRecord | null;
    if (record === null || !hasRollouts(record)) continue;
    try {
      await reader.blobs.get(record.rollouts);
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      problems.push(`${key}: ${error.message}`);
    }
  }
  return problems;
}

const hasRollouts = (record: RunRecord): record is StepRecord | WriteRecord | EvaluationRecord =>
  'rollouts' in record && typeof record.rollouts === 'string';
