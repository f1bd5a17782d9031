/** The figures of an evaluation. Failed items are in no denominator but their own. */
import { mean } from '../method/statistics.ts';
import { UserError } from '../util/error.ts';
import { faultText, metricFault } from './invariant.ts';
import { type Measured, measure } from './measure.ts';
import { failed, type ItemResult } from './result.ts';

export const METRICS = ['em', 'coverEm', 'coverEmToken', 'f1'] as const satisfies readonly (keyof ItemResult)[];
export type Metric = (typeof METRICS)[number];

export interface Summary extends Measured<Metric> {
  /** Items that were judged. */
  readonly n: number;
  /** Mean searches of the judged. */
  readonly searches: number;
  /** Share of these searches that found nothing; null without a search. */
  readonly emptySearches: number | null;
  /** Shares of the judged: no answer at all; a turn that could not be read; a limit of turns or tokens reached first. */
  readonly unanswered: number;
  readonly malformed: number;
  readonly truncated: number;
  /** Share of the judged that got a reply without a text. */
  readonly emptyReplies: number;
  /** Items lost to an outage, and their share of all items. */
  readonly failed: number;
  readonly failedShare: number;
}

/** Names the bootstrap: the same items always have the same intervals. */
const KEY = 'evaluation';

/** Throws UserError when an item's scores break an invariant: someone else wrote them. */
export function summarise(items: readonly ItemResult[]): Summary {
  const judged = items.filter((item) => !failed(item));
  for (const item of judged) {
    const fault = metricFault(item);
    if (fault !== null) throw new UserError(`${JSON.stringify(item.id)}: ${fault}: ${faultText[fault]}.`);
  }
  const share = (is: (item: ItemResult) => boolean): number => mean(judged.map((item) => (is(item) ? 1 : 0)));
  return {
    n: judged.length,
    ...measure(
      judged.map((item) => ({ id: item.id, set: item.set, values: item })),
      METRICS,
      KEY,
    ),
    searches: mean(judged.map(({ searches }) => searches)),
    emptySearches: emptyShare(judged),
    unanswered: share(({ prediction }) => prediction === null || prediction.trim() === ''),
    malformed: share(({ stop }) => stop === 'malformed'),
    truncated: share(({ stop }) => stop === 'turn-limit' || stop === 'token-limit'),
    emptyReplies: silentShare(judged),
    failed: items.length - judged.length,
    failedShare: items.length === 0 ? 0 : (items.length - judged.length) / items.length,
  };
}

/** Share of the judged that got a reply without a text; 0 when nothing was judged. */
export const silentShare = (items: readonly ItemResult[]): number =>
  mean(items.filter((item) => !failed(item)).map(({ emptyReplies = 0 }) => (emptyReplies > 0 ? 1 : 0)));

/** Searches of the judged that found nothing, as a share; null without a search. */
export function emptyShare(items: readonly ItemResult[]): number | null {
  const judged = items.filter((item) => !failed(item));
  const sum = (of: (item: ItemResult) => number): number => judged.reduce((total, item) => total + of(item), 0);
  const searches = sum((item) => item.searches);
  return searches === 0 ? null : sum((item) => item.emptySearches ?? 0) / searches;
}
