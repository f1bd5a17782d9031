/**
 * The fixed manifest (method.md section 6): of each set the questions with the smallest SHA-256 of "eval200:" + id, so that
 * the choice depends on ids alone, not on order, files or answers. The same questions give the same bytes.
 */
import { createHash } from 'node:crypto';
import { UserError } from '../util/error.ts';
import { contentId } from '../util/id.ts';
import type { ExamQuestion } from './result.ts';
import { inTableOrder, SEVEN } from './seven.ts';

const rank = (id: string): string => createHash('sha256').update(`eval200:${id}`).digest('hex');

/** The `size` questions that the hash puts first, in that order. */
export function chosen(questions: readonly ExamQuestion[], size: number): ExamQuestion[] {
  const ranked = questions.map((question) => ({ question, key: rank(question.id) }));
  return ranked
    .sort((a, b) => (a.key < b.key ? -1 : 1))
    .slice(0, size)
    .map(({ question }) => question);
}

export interface Manifest {
  readonly questions: readonly ExamQuestion[];
  /** Of ids, sets, questions and gold, in their order: what a score depends on. */
  readonly hash: string;
  /** Questions of each set. */
  readonly counts: Readonly<Record<string, number>>;
}

export function manifestOf(questions: readonly ExamQuestion[]): Manifest {
  const lines = questions.map(({ id, set, question, golden }) => `${JSON.stringify([id, set, question, golden])}\n`);
  const counts: Record<string, number> = Object.fromEntries(
    inTableOrder(questions.map(({ set }) => set)).map((set) => [set, 0]),
  );
  for (const { set } of questions) counts[set]! += 1;
  return { questions, hash: contentId(lines.join('')), counts };
}

export interface Shortage {
  readonly set: string;
  readonly has: number;
  readonly needs: number;
}

/** The fixed manifest from the questions of each set, and what it lacks; sets in the order of the table. */
export function fixedManifest(pools: ReadonlyMap<string, readonly ExamQuestion[]>): {
  readonly manifest: Manifest;
  readonly short: readonly Shortage[];
} {
  const questions = SEVEN.flatMap(({ name, size }) => chosen(pools.get(name) ?? [], size));
  const manifest = manifestOf(questions);
  const short = SEVEN.flatMap(({ name, size }) => {
    const has = manifest.counts[name] ?? 0;
    return has < size ? [{ set: name, has, needs: size }] : [];
  });
  return { manifest, short };
}

/** One line of the file. */
export const manifestLine = ({ id, set, question, golden, metadata }: ExamQuestion): string =>
  JSON.stringify({ id, set, question, golden_answers: golden, ...(metadata === undefined ? {} : { metadata }) });

/** Throws UserError for an id that two questions share: results are joined by it. */
export function refuseSharedIds(questions: readonly ExamQuestion[]): void {
  const sets = new Map<string, string>();
  for (const { id, set } of questions) {
    const other = sets.get(id);
    if (other !== undefined)
      throw new UserError(
        `The id ${JSON.stringify(id)} is used by two questions (of ${other} and of ${set}); give each its own.`,
      );
    sets.set(id, set);
  }
}
