/**
 * One rollout as text. Every line of untrusted text is wrapped by us and stands behind a bar, so nothing a model or a document
 * wrote can pass for a line of ours.
 */
import { LABEL_RULES } from '../method/label.ts';
import type { RolloutRecord } from '../record.ts';
import { signed } from './format.ts';
import type { Judged } from './outcome.ts';
import { widthOf } from './table.ts';
import { visible, visibleLines } from './visible.ts';

const NAMES = { prompt: 'prompt', reply: 'reply', search: 'search' } as const satisfies Record<
  RolloutRecord['text'][number]['kind'],
  string
>;
const MARGIN = 9;

/** Who speaks; `group` is the number of responses, 0 when unknown. */
const WHO: Readonly<Record<RolloutRecord['role'], (r: RolloutRecord, group: number) => string>> = {
  proposer: () => 'proposer',
  solver: ({ attempt }, group) => (group > 0 ? `solver, response ${attempt + 1} of ${group}` : 'solver'),
  verifier: ({ attempt }) =>
    attempt < LABEL_RULES.msv.aware ? 'verifier, source at hand' : 'verifier, source not shown',
};

export interface Place {
  readonly key: string;
  /** Place among the rollouts that match the filters, from 1. */
  readonly number: number;
  readonly columns: number;
}

export function renderRollout(r: RolloutRecord, about: Judged, { key, number, columns }: Place): string {
  const { rollout } = r;
  const width = Math.max(20, columns - MARGIN - 2);
  const field = (name: string, text: string): string[] =>
    wrapped(visible(text), width).map((line, i) => `${(i === 0 ? name : '').padEnd(MARGIN)}  ${line}`);
  const who = WHO[r.role](r, about.group);
  const verdict = about.outcomes.length === 0 ? 'not judged' : about.outcomes.join(', ');
  const figures = [
    `stop ${rollout.stop}`,
    `searches ${rollout.searches}`,
    ...(r.reward === null ? [] : [`reward ${r.reward.toFixed(3)}`]),
    ...(r.advantage === null ? [] : [`advantage ${signed(r.advantage, 3)}`]),
  ];
  const answer = rollout.answer === null ? 'none' : quoted(rollout.answer);
  const matches = about.match === null ? '' : about.match ? ', matches the label' : ', does not match the label';
  return [
    `#${number}  ${visible(key)}  ${who}: ${verdict}`,
    ...(r.role === 'proposer' ? [] : field('about', r.about)),
    ...field('source', `${quoted(r.source)}, ${r.hops} hop${r.hops === 1 ? '' : 's'}`),
    ...(rollout.question === null ? [] : field('question', rollout.question)),
    ...(about.label === null ? [] : field('label', quoted(about.label))),
    ...(about.reference === null ? [] : field('reference', quoted(about.reference))),
    ...field('answer', answer + matches),
    ...(rollout.error === undefined ? [] : field('error', rollout.error)),
    ...field('', figures.join(', ')),
    ...r.text.flatMap(({ kind, text }) => turn(NAMES[kind], text, width)),
    '',
  ].join('\n');
}

const quoted = (text: string): string => `"${text}"`;

const turn = (name: string, text: string, width: number): string[] =>
  visibleLines(text)
    .flatMap((line) => wrapped(line, width))
    .map((line, i) => `${(i === 0 ? name : '').padEnd(MARGIN)}| ${line}`);

/** Cut at the last blank that fits, else in the middle of a word. An empty text is one empty line. */
export function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  let used = 0;
  for (const char of text) {
    const own = widthOf(char);
    if (used + own > width) {
      const blank = line.lastIndexOf(' ');
      const cut = blank > 0 ? blank : line.length;
      lines.push(line.slice(0, cut));
      line = line.slice(cut).trimStart();
      used = widthOf(line);
    }
    line += char;
    used += own;
  }
  return [...lines, line];
}
