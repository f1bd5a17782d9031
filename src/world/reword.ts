/** The same question in other words: a bank that asks every fact several times tells a split of questions from one of sources. */
import { rng } from '../util/rng.ts';
import { parseQuestion, writeQuestion } from './question.ts';
import type { World } from './world.ts';

/**
 * At most `n` distinct wordings of a question, itself first and as it stands; the others vary the relations among the words
 * that this world's questions use, in an order drawn by `key`. Null when the text is no chain of relations.
 */
export function reword(world: World, text: string, n: number, key: string): readonly string[] | null {
  const parsed = parseQuestion(text);
  if (parsed === null) return null;
  const { start, relations, words } = parsed;
  const choices = relations.reduce<readonly (readonly string[])[]>(
    (heads, { wordings }) =>
      heads.flatMap((head) => wordings.slice(0, world.options.wordings).map((word) => [...head, word])),
    [[]],
  );
  const asked = writeQuestion(start, words);
  const others = choices.map((choice) => writeQuestion(start, choice)).filter((other) => other !== asked);
  return [
    text,
    ...rng('reword', world.options.seed, key)
      .shuffle(others)
      .slice(0, n - 1),
  ];
}
