/** Which field of a log means what: what the user says with --map, else the names that logs usually have. */
import { UserError } from '../../util/error.ts';
import { nearest } from '../../util/suggest.ts';
import { fieldPath, type Path, parsePath } from './path.ts';

interface Meaning {
  readonly about: string;
  /** Taken when the log has one and --map says nothing; the first that is there. */
  readonly names: readonly string[];
}

export const MEANINGS = {
  question: { about: 'text of the question', names: ['question', 'query', 'problem', 'prompt'] },
  label: {
    about: 'the answer that responses were rewarded for',
    names: ['label', 'adopted_label', 'pseudo_label', 'proposed_answer', 'majority_answer', 'answer'],
  },
  responses: {
    about: 'answers of the solver: a list, JSON text of a list, or one',
    names: ['responses', 'solver_responses', 'predictions', 'samples', 'completions'],
  },
  response: {
    about: 'one answer a row; rows of a question in a step belong together',
    names: ['response', 'prediction', 'pred', 'predicted_answer', 'model_answer', 'output', 'completion'],
  },
  reference: {
    about: 'right answers',
    names: ['reference', 'references', 'gold', 'golden_answers', 'gold_answers', 'gold_answer', 'ground_truth'],
  },
  source: { about: 'document of the question', names: ['source', 'source_id', 'doc_id', 'document_id'] },
  step: { about: 'training step', names: ['step', 'global_step', 'train_step', 'iteration'] },
  round: { about: 'round', names: ['round'] },
  hops: { about: 'hop count of the question', names: ['hops', 'hop', 'num_hops', 'n_hops', 'hop_count'] },
  system: { about: 'which of several systems', names: ['system', 'arm'] },
  matches: { about: 'per response: did it match the label?', names: ['matches'] },
  reward: { about: 'the same as 0 or 1', names: [] },
  verdict: { about: 'a verdict on the label: right, wrong, or anything else', names: [] },
  evidence: { about: 'text of the source', names: ['evidence', 'source_text', 'document'] },
  id: { about: 'id of the question in --references', names: ['id', 'question_id', 'qid', '_id'] },
} as const satisfies Readonly<Record<string, Meaning>>;
export type MeaningName = keyof typeof MEANINGS;

const NAMES = Object.keys(MEANINGS) as MeaningName[];

export type Mapping = Readonly<Partial<Record<MeaningName, Path>>>;

/** `question=prompt` and the like. */
export function parseMap(pairs: readonly string[]): Mapping {
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=');
      if (at < 1 || at === pair.length - 1)
        throw new UserError(`--map "${pair}": expected meaning=field, for example question=prompt`);
      const name = pair.slice(0, at);
      if (!Object.hasOwn(MEANINGS, name)) {
        const close = nearest(name, NAMES);
        const hint = close === null ? `expected one of ${NAMES.join(', ')}` : `did you mean "${close}"?`;
        throw new UserError(`--map "${pair}": unknown meaning "${name}"; ${hint}`);
      }
      return [name, parsePath(pair.slice(at + 1))];
    }),
  );
}

/**
 * The mapping of a log whose rows have `fields`. UserError: something needed is neither mapped nor there, with the fields that
 * are. `file` is named in it.
 * @param withReference without one nothing could be judged.
 */
export function settleMapping(
  given: Mapping,
  fields: readonly string[],
  { file, withReference }: { readonly file: string; readonly withReference: boolean },
): Mapping {
  const taken = new Set(Object.values(given).map(({ text }) => text));
  const byLowerCase = new Map(fields.map((field) => [field.toLowerCase(), field]));
  const found: Partial<Record<MeaningName, Path>> = { ...given };
  for (const name of NAMES) {
    if (found[name] !== undefined || isSpokenFor(name, found)) continue;
    const field = MEANINGS[name].names.map((n) => byLowerCase.get(n)).find((f) => f !== undefined && !taken.has(f));
    if (field === undefined) continue;
    found[name] = fieldPath(field);
    taken.add(field);
  }
  const needed: MeaningName[] = (['question', 'label'] as const).filter((name) => found[name] === undefined);
  if (found.responses === undefined && found.response === undefined) needed.push('responses');
  if (withReference && found.reference === undefined && found.verdict === undefined) needed.push('reference');
  if (needed.length > 0) throw new UserError(complaint(file, needed, fields));
  return found;
}

/** Two ways of saying the same thing. */
const isSpokenFor = (name: MeaningName, found: Mapping): boolean =>
  (name === 'response' && found.responses !== undefined) ||
  (name === 'responses' && found.response !== undefined) ||
  (name === 'matches' && found.reward !== undefined);

function complaint(file: string, needed: readonly MeaningName[], fields: readonly string[]): string {
  const what = needed.map((name) => `${name} (${MEANINGS[name].about})`).join(', ');
  const example = needed.map((name) => `${name}=FIELD`).join(' ');
  const hints = [
    ...(needed.includes('label')
      ? ['a log rewarded by gold answers has the same field as label and as reference']
      : []),
    ...(needed.includes('reference') ? ['right answers may also come from --references FILE, or from a --judge'] : []),
  ];
  return [
    `${file}: no field for ${what}. Its fields: ${fields.slice(0, 40).join(', ')}. Say which with --map ${example}`,
    ...hints,
  ].join('; ');
}
