/**
 * Near-duplicates among questions (method.md section 7; R-Zero): clusters of average linkage on 1 − BLEU, cut at .5.
 *
 *   BLEU = BP · exp(mean over n = 1..4 of log p_n)      p_n: clipped n-gram precision; a count of 0 is taken as .1
 *   BP   = 1 where the candidate is at least as long as the reference, else exp(1 − r/c)
 *
 * Departures. [ours] BLEU of a pair is the mean of both directions, so that the order of questions does not matter. [ours]
 * n stops at the candidate's length: else two equal questions of three words would not be near-duplicates.
 */
const LARGEST = 4;
const SMALL = 0.1;
/** Clusters at this distance or farther are not joined. */
const CUT = 0.5;

/** Words of a question, as BLEU counts them. */
export const bleuWords = (text: string): readonly string[] => text.toLowerCase().split(/\s+/).filter(Boolean);

type Counts = ReadonlyMap<string, number>;

interface Counted {
  readonly length: number;
  /** Per n − 1. */
  readonly grams: readonly Counts[];
}

function countsOf(words: readonly string[]): Counted {
  const grams = Array.from({ length: LARGEST }, (_, i) => {
    const counts = new Map<string, number>();
    for (let at = 0; at + i < words.length; at++) {
      const gram = words.slice(at, at + i + 1).join(' ');
      counts.set(gram, (counts.get(gram) ?? 0) + 1);
    }
    return counts;
  });
  return { length: words.length, grams };
}

/** Sentence BLEU-4 of a candidate against one reference, in [0, 1]. 0 without a common word. */
export const bleu = (candidate: readonly string[], reference: readonly string[]): number =>
  bleuOf(countsOf(candidate), countsOf(reference));

function bleuOf(candidate: Counted, reference: Counted): number {
  let logs = 0;
  const orders = Math.min(LARGEST, candidate.length);
  for (let i = 0; i < orders; i++) {
    let common = 0;
    for (const [gram, n] of candidate.grams[i]!) common += Math.min(n, reference.grams[i]!.get(gram) ?? 0);
    if (i === 0 && common === 0) return 0;
    logs += Math.log((common === 0 ? SMALL : common) / (candidate.length - i));
  }
  if (orders === 0) return 0;
  const { length: c } = candidate;
  const brevity = c >= reference.length ? 1 : Math.exp(1 - reference.length / c);
  return brevity * Math.exp(logs / orders);
}

/** Per question: the size of its cluster as a share of all questions. */
export function clusterShares(questions: readonly string[]): number[] {
  const counted = questions.map((text) => countsOf(bleuWords(text)));
  const distance = counted.map((a) => counted.map((b) => 1 - (bleuOf(a, b) + bleuOf(b, a)) / 2));
  const shares = questions.map(() => 0);
  for (const cluster of averageLinkage(distance, CUT))
    for (const i of cluster) shares[i] = cluster.length / questions.length;
  return shares;
}

/**
 * Joins the two clusters whose members are nearest on average, as long as they are nearer than `cut`. Places of the members,
 * clusters by their first. Of equal pairs the earliest are joined.
 */
export function averageLinkage(distance: readonly (readonly number[])[], cut: number): number[][] {
  const between = distance.map((row) => [...row]);
  const clusters: (number[] | null)[] = distance.map((_, i) => [i]);
  for (;;) {
    let [a, b, nearest] = [-1, -1, cut];
    for (let i = 0; i < clusters.length; i++) {
      if (clusters[i] === null) continue;
      for (let j = i + 1; j < clusters.length; j++) {
        if (clusters[j] === null || between[i]![j]! >= nearest) continue;
        [a, b, nearest] = [i, j, between[i]![j]!];
      }
    }
    if (a < 0) return clusters.flatMap((members) => (members === null ? [] : [members]));
    const [first, second] = [clusters[a]!, clusters[b]!];
    for (let k = 0; k < clusters.length; k++) {
      if (clusters[k] === null || k === a || k === b) continue;
      const sum = first.length * between[a]![k]! + second.length * between[b]![k]!;
      between[a]![k] = between[k]![a] = sum / (first.length + second.length);
    }
    first.push(...second);
    clusters[b] = null;
  }
}
