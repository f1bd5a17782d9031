/** The seven evaluation sets (method.md section 6): 200 questions of each of the first six, all 125 of Bamboogle: 1,325. */

export interface BenchmarkSet {
  readonly name: SetName;
  readonly hops: 'single' | 'multi';
  /** Questions in the fixed manifest. */
  readonly size: number;
  /** Other names that files and folders carry; lower-case letters and digits. */
  readonly aliases: readonly string[];
}

export type SetName = 'nq' | 'triviaqa' | 'popqa' | 'hotpotqa' | '2wikimultihopqa' | 'musique' | 'bamboogle';

export const SEVEN: readonly BenchmarkSet[] = [
  { name: 'nq', hops: 'single', size: 200, aliases: ['nqopen', 'naturalquestions'] },
  { name: 'triviaqa', hops: 'single', size: 200, aliases: ['trivia', 'tqa'] },
  { name: 'popqa', hops: 'single', size: 200, aliases: [] },
  { name: 'hotpotqa', hops: 'multi', size: 200, aliases: ['hotpot'] },
  { name: '2wikimultihopqa', hops: 'multi', size: 200, aliases: ['2wiki', '2wikimultihop', '2wikiqa'] },
  { name: 'musique', hops: 'multi', size: 200, aliases: [] },
  { name: 'bamboogle', hops: 'multi', size: 125, aliases: [] },
];

const plain = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, '');

/** The set that a person means by a name; null when it is none of the seven. */
export const setNamed = (name: string): BenchmarkSet | null =>
  SEVEN.find((set) => set.name === plain(name) || set.aliases.includes(plain(name))) ?? null;

/** Names in the order of the table; others after them, in order of first appearance. */
export function inTableOrder(names: Iterable<string>): string[] {
  const given = [...new Set(names)];
  const known = SEVEN.map(({ name }) => name as string).filter((name) => given.includes(name));
  return [...known, ...given.filter((name) => !known.includes(name))];
}
