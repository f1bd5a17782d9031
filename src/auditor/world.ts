/** Auditor `world`: exact truth of the miniature world (method.md section 5). Names must be equal as written. */
import type { Auditor, AuditQuestion, Verdict } from '../auditor.ts';
import { truth } from '../world/question.ts';
import type { World } from '../world/world.ts';

export const worldAuditor = (world: World): Auditor => ({
  name: 'world',
  judge: async (items) => items.map((item) => judgeOne(world, item)),
});

function judgeOne(world: World, { question, label, responses }: AuditQuestion): Verdict {
  const reference = truth(world, question);
  if (reference === null) return { resolved: false, why: 'the question has no answer in this world' };
  const right = (answer: string | null): boolean => answer?.trim() === reference;
  return { resolved: true, reference, labelCorrect: right(label), responseCorrect: responses.map(right) };
}
