/**
 * What a label rule makes of proposals (method.md section 3): the label each is used with, or why it is refused. A row per
 * rule. MSV asks the current main solver three times with the source at hand and three times without; neither view is told
 * the draft. Its generations and searches are counted apart from everything else.
 */
import type { Dialect } from '../dialect.ts';
import { draftLabel, LABEL_RULES, type LabelRule, relation, unorderedPairs, verify } from '../method/label.ts';
import type { VerificationRecord } from '../record.ts';
import { attempts } from '../rollout/group.ts';
import type { Hops, Label, Piece, Rollout, Source } from '../types.ts';
import { type Context, environment } from './context.ts';
import { answerNote, countBy, type RolloutNote } from './measure.ts';
import type { Drafted } from './propose.ts';
import { addUsage, metered } from './usage.ts';

/** A question that has passed the format gate, with its draft label. */
export interface Candidate {
  readonly question: string;
  readonly draft: string;
  readonly source: string;
  readonly hops: Hops;
  /** What the source-aware view reads. */
  readonly material: Source;
  /** Names the random streams of its answers. */
  readonly key: string;
}

export const candidateOf = ({ rollout, source, hops, material }: Drafted, key: string): Candidate => ({
  question: rollout.question!,
  draft: rollout.answer!,
  source,
  hops,
  material,
  key,
});

/** Candidates asked at once: what an engine caches for them must fit in memory. */
const BATCH = 128;

export interface Verified {
  /** Null: refused. */
  readonly label: Label | null;
  readonly reason: string | null;
  /** The answers the rule asked for: source-aware first. */
  readonly rollouts: readonly Rollout[];
}

export interface Verdicts {
  /** In the order of the candidates. */
  readonly verified: readonly Verified[];
  /** Null under a rule that asks nothing. */
  readonly record: VerificationRecord | null;
}

/** `policy` is the main solver of the round; every candidate has passed the format gate. */
export const verifyAll = (
  rule: LabelRule,
  context: Context,
  policy: string,
  candidates: readonly Candidate[],
): Promise<Verdicts> => RULES[rule](context, policy, candidates);

const RULES = {
  draft: async (_context: Context, _policy: string, candidates: readonly Candidate[]): Promise<Verdicts> => ({
    verified: candidates.map(({ draft }) => ({
      label: draftLabel(draft),
      reason: null,
      rollouts: [],
    })),
    record: null,
  }),
  msv: multiSample,
} satisfies Record<LabelRule, unknown>;

async function multiSample(given: Context, policy: string, candidates: readonly Candidate[]): Promise<Verdicts> {
  const [context, spent] = metered(given);
  const { matcher, task } = context;
  const env = await environment(context, policy, 'solver');
  const { aware, blind } = LABEL_RULES.msv;
  const view = async (name: string, prompt: (candidate: Candidate) => readonly Piece[], n: number) => {
    const out: (readonly Rollout[])[] = [];
    for (let i = 0; i < candidates.length; i += BATCH) {
      const part = candidates.slice(i, i + BATCH);
      const tasks = part.map((c) => ({ prompt: prompt(c), question: c.question, key: `${c.key}/${name}` }));
      out.push(...(await attempts(tasks, n, env)));
    }
    return out;
  };
  const seeing = await view('aware', (c) => awarePrompt(task.dialect, c.question, c.material), aware);
  const unseeing = await view('blind', (c) => task.dialect.solverPrompt(c.question), blind);
  const groups = candidates.map((_, i) => [...seeing[i]!, ...unseeing[i]!]);
  const pairs = unorderedPairs(aware + blind);
  const asked = candidates.flatMap(({ question }, c) =>
    pairs.flatMap(([i, j]) => {
      const [a, b] = [groups[c]![i]!.answer, groups[c]![j]!.answer];
      return a === null || b === null ? [] : [{ question, a, b }];
    }),
  );
  const same = await matcher.match(asked);
  let next = 0;
  const verified = groups.map((rollouts): Verified => {
    const answers = rollouts.map((r) => r.answer);
    const told = pairs.map(([i, j]) => answers[i] !== null && answers[j] !== null && same[next++]!);
    if (rollouts.some((r) => r.stop === 'error')) return { label: null, reason: 'outage', rollouts };
    const matches = told.filter((match) => match !== null);
    if (matches.length < told.length) return { label: null, reason: 'unread', rollouts };
    const verdict = verify(answers, relation(answers.length, matches));
    return verdict.admitted
      ? { label: verdict.label, reason: null, rollouts }
      : { label: null, reason: verdict.reason, rollouts };
  });
  const all = groups.flat();
  return {
    verified,
    record: {
      candidates: candidates.length,
      admitted: verified.filter((v) => v.label !== null).length,
      changed: verified.filter((v, i) => v.label !== null && v.label.answers[0] !== candidates[i]!.draft).length,
      refused: countBy(verified.flatMap((v) => (v.reason === null ? [] : [v.reason]))),
      generations: all.length,
      searches: all.reduce((sum, r) => sum + r.searches, 0),
      usage: spent(),
    },
  };
}

/** The question with its source at hand: as the dialect says, else as if it had been found by a first search. */
function awarePrompt(dialect: Dialect, question: string, source: Source): readonly Piece[] {
  if (dialect.awarePrompt !== undefined) return dialect.awarePrompt(question, source);
  const { id, title, text } = source;
  const hit = { passage: { id, source: id, title, text }, score: 1 };
  return [...dialect.solverPrompt(question), ...dialect.searchResult([hit], question)];
}

/** The answers a rule asked for, as the step's rollouts hold them. */
export const verifierNotes = (candidates: readonly Candidate[], verified: readonly Verified[]): RolloutNote[] =>
  candidates.flatMap((candidate, c) =>
    verified[c]!.rollouts.map((rollout, attempt) => ({
      ...answerNote(candidate, rollout, { feedback: null, attempt, reward: null }),
      role: 'verifier',
    })),
  );

/** Null when there is nothing to add up. */
export function sumVerifications(records: readonly VerificationRecord[]): VerificationRecord | null {
  const [first, ...others] = records;
  if (first === undefined) return null;
  return others.reduce(
    (a, b) => ({
      candidates: a.candidates + b.candidates,
      admitted: a.admitted + b.admitted,
      changed: a.changed + b.changed,
      refused: addCounts(a.refused, b.refused),
      generations: a.generations + b.generations,
      searches: a.searches + b.searches,
      usage: addUsage(a.usage, b.usage),
    }),
    first,
  );
}

function addCounts(a: Readonly<Record<string, number>>, b: Readonly<Record<string, number>>): Record<string, number> {
  const out = { ...a };
  for (const [name, n] of Object.entries(b)) out[name] = (out[name] ?? 0) + n;
  return out;
}
