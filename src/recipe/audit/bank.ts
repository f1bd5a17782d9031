/** Truth of what a round admitted: the bank the solver then trains on (method.md section 5). */
import type { Auditor } from '../../auditor.ts';
import { bootstrap, type Interval, weightedMean } from '../../method/statistics.ts';
import type { WriteRecord } from '../../record.ts';
import type { Line } from '../rounds.ts';

export interface BankShare {
  readonly admitted: number;
  readonly judged: number;
  /** Share of judged labels that are correct, clustered by source; null when none was judged. */
  readonly TP: Interval | null;
}

export interface BankAudit extends BankShare {
  /** Different question texts. */
  readonly distinct: number;
  readonly sources: number;
  readonly tried: number;
  /** Reason → count. */
  readonly refused: Readonly<Record<string, number>>;
  /** Hop count → its part of the bank. */
  readonly byHops: Readonly<Record<string, BankShare>>;
}

export async function auditBank(auditor: Auditor, { key, record }: Line<WriteRecord>): Promise<BankAudit> {
  const { bank, tried, refused } = record;
  const verdicts = await auditor.judge(bank.map((item) => ({ ...item, responses: [] })));
  const items = bank.map(({ source, hops }, i) => ({ source, hops, verdict: verdicts[i]! }));
  const shareOf = (own: typeof items, name: string): BankShare => {
    const judged = own.flatMap(({ source, verdict }) =>
      verdict.resolved ? [{ source, right: Number(verdict.labelCorrect) }] : [],
    );
    const sources = judged.map(({ source }) => source);
    const values = judged.map(({ right }) => right);
    return {
      admitted: own.length,
      judged: judged.length,
      TP: judged.length === 0 ? null : bootstrap(weightedMean(values), sources, { key: `${key} ${name}` }),
    };
  };
  const hopCounts = [...new Set(bank.map(({ hops }) => hops))].sort();
  return {
    ...shareOf(items, 'bank'),
    distinct: new Set(bank.map(({ question }) => question)).size,
    sources: new Set(bank.map(({ source }) => source)).size,
    tried,
    refused,
    byHops: Object.fromEntries(
      hopCounts.map((hops) => [
        hops,
        shareOf(
          items.filter((item) => item.hops === hops),
          `hops ${hops}`,
        ),
      ]),
    ),
  };
}
