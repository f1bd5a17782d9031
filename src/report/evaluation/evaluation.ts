/** The figures of one evaluation as tables. */
import type { Figures } from '../../benchmark/measure.ts';
import type { EvaluationResult } from '../../benchmark/result.ts';
import { setNamed } from '../../benchmark/seven.ts';
import { emptyShare, METRICS, type Metric, type Summary, silentShare, summarise } from '../../benchmark/summary.ts';
import { count, interval, share } from '../format.ts';
import { left, right } from '../table.ts';
import { shortened } from '../visible.ts';
import { asText, type Grid, type Layout } from './grid.ts';

export const METRIC_HEADS: Readonly<Record<Metric, string>> = {
  em: 'EM',
  coverEm: 'Cover-EM',
  coverEmToken: 'Cover-EM (tokens)',
  f1: 'F1',
};

/** A longer name of a set is cut. */
export const nameCell = (name: string): string => shortened(name, 48);

/** Levels above the sets, where there are several sets. */
export const levelsOf = <F>(measured: {
  readonly sets: Readonly<Record<string, F>>;
  readonly macro: F | null;
  readonly micro: F | null;
  readonly singleHop: F | null;
  readonly multiHop: F | null;
}): (readonly [name: string, figures: F])[] => {
  const sets = Object.entries(measured.sets);
  if (sets.length < 2) return sets;
  const { singleHop, multiHop, macro, micro } = measured;
  // Where all sets are of one kind, its mean is the macro mean.
  const kinds =
    singleHop === null || multiHop === null
      ? []
      : ([
          ['single-hop', singleHop],
          ['multi-hop', multiHop],
        ] as const);
  const levels = [...kinds, ['macro', macro] as const, ['micro', micro] as const];
  return [...sets, ...levels.flatMap(([name, figures]) => (figures === null ? [] : [[name, figures] as const]))];
};

function figuresGrid(summary: Summary): Grid {
  const rows = levelsOf<Figures<Metric>>(summary).map(([name, figures]) => [
    nameCell(name),
    count(questionsOf(summary, name)),
    ...METRICS.map((metric) => interval(figures[metric])),
  ]);
  return { columns: [left('set'), right('n'), ...METRICS.map((metric) => right(METRIC_HEADS[metric]))], rows };
}

/** Questions behind a row: of the set, of the sets of one kind, or of all. */
function questionsOf({ sets, n }: Summary, name: string): number {
  const kind = name === 'single-hop' ? 'single' : name === 'multi-hop' ? 'multi' : null;
  if (kind === null) return sets[name]?.n ?? n;
  return Object.entries(sets).reduce((sum, [set, own]) => sum + (setNamed(set)?.hops === kind ? own.n : 0), 0);
}

export interface EvaluationTextOptions {
  readonly layout?: Layout;
  /** The evaluation ran a policy: say how its attempts ended. */
  readonly ran: boolean;
}

/** The table, and what is to be known about it. */
export function evaluationText(evaluation: EvaluationResult, { layout = asText, ran }: EvaluationTextOptions): string {
  const summary = summarise(evaluation.items);
  return [
    ...figures(summary, layout),
    ...(ran && summary.n > 0 ? attempts(summary) : []),
    ...(evaluation.complete ? [] : [incomplete(evaluation, summary)]),
  ].join('\n');
}

/** Zeros of questions that nobody answered would read as a result. */
function figures(summary: Summary, layout: Layout): string[] {
  if (summary.n === 0) return ['No question was answered: there are no figures.'];
  const levels = Object.keys(summary.sets).length < 2 ? '' : '; macro is the mean of the sets, micro of the questions';
  return [...layout(figuresGrid(summary)), '', `Means with 95 % bootstrap intervals over questions${levels}.`];
}

function attempts(summary: Summary): string[] {
  const { searches, emptySearches, unanswered, malformed, truncated, emptyReplies } = summary;
  const empty = emptySearches ?? 0;
  const silent = emptyReplies > 0 ? `, with an empty reply ${share(emptyReplies)}` : '';
  return [
    `Searches a question ${searches.toFixed(2)}${empty > 0 ? ` (${share(empty)} of them found nothing)` : ''}; without an answer ${share(unanswered)}, malformed ${share(malformed)}, ended by a limit ${share(truncated)}${silent}.`,
  ];
}

/** What makes the figures say little about the policy. */
export const evaluationWarnings = (result: EvaluationResult): readonly string[] =>
  [searchWarning(result), replyWarning(result)].filter((warning) => warning !== null);

/** A model that mostly says nothing is more likely asked wrongly than at a loss; null: it speaks. */
function replyWarning({ items }: EvaluationResult): string | null {
  const silent = silentShare(items);
  if (silent <= 0.5) return null;
  const what = silent === 1 ? 'every question' : `${share(silent)} of the questions`;
  return `${what} got an empty reply: the figures say little about the model; likely causes are another chat template than the model's (try the other --api), a stop string that it begins with, a --max-tokens that its reasoning uses up, or prompts longer than its context; rollouts.jsonl has what it was sent`;
}

/** A search that finds nothing most of the time is more likely broken than the questions are hard; null: it finds enough. */
function searchWarning({ items }: EvaluationResult): string | null {
  const empty = emptyShare(items);
  if (empty === null || empty <= 0.5) return null;
  const what = empty === 1 ? 'every search found nothing' : `${share(empty)} of the searches found nothing`;
  return `${what}: the figures say little about the policy; try a query with "crossfold search", and check --index`;
}

function incomplete({ items, expected }: EvaluationResult, { failed, failedShare }: Summary): string {
  const parts = [
    ...(failed > 0 ? [`${count(failed)} (${share(failedShare)}) lost to an outage`] : []),
    ...(items.length < expected ? [`${count(expected - items.length)} of ${count(expected)} without a result`] : []),
  ];
  return `INCOMPLETE: ${parts.join(', ')}. They are in no figure above.`;
}
