/** The table of the proposer's updates: what they cost and gave. A row a figure, a column an arm. */
import type { ProposerFigures, ProposerSpreads } from '../../recipe/seeds/proposers.ts';
import type { SeedRound, SeedsReport } from '../../recipe/seeds/report.ts';
import type { Spread } from '../../recipe/seeds/spread.ts';
import type { CaptionedTable } from '../captioned.ts';
import { count, DASH, duration, large, share } from '../format.ts';
import { costName, spreadText, timesOf } from './spread.ts';

const hundredths = (x: number): string => share(x, 2);

const MEASURED: readonly {
  readonly name: string;
  readonly figure: keyof ProposerFigures;
  readonly number: (x: number) => string;
  /** Costs are multiples of the reference too. */
  readonly cost?: true;
}[] = [
  { name: 'updates', figure: 'updates', number: count },
  { name: 'proposals a prompt', figure: 'proposals', number: hundredths },
  { name: 'solver rollouts a prompt', figure: 'responses', number: hundredths, cost: true },
  { name: 'tokens in', figure: 'prefilled', number: large, cost: true },
  { name: 'tokens out', figure: 'sampled', number: large, cost: true },
  { name: 'tokens trained', figure: 'trained', number: large, cost: true },
  { name: 'time', figure: 'ms', number: duration, cost: true },
  { name: 'variance of the reward in a step', figure: 'variance', number: share },
  { name: 'trajectories with an advantage', figure: 'trainedShare', number: share },
  { name: 'reward of the first step', figure: 'firstReward', number: share },
  { name: 'reward of the last step', figure: 'lastReward', number: share },
];

const REACHED: readonly { readonly name: string; readonly of: (last: SeedRound) => Spread | null }[] = [
  { name: 'T_P of proposer steps, last round', of: ({ scopes }) => scopes.proposer.TP },
  { name: 'F of proposer steps, last round', of: ({ scopes }) => scopes.proposer.F },
  { name: 'exam EM at the end', of: ({ em }) => em },
];

export function updateTable(
  { systems, rounds, costs }: SeedsReport,
  proposers: Readonly<Record<string, ProposerSpreads>>,
): CaptionedTable {
  const reference = proposers[systems[0]!]!;
  const times = timesOf(costs, systems[0]!);
  const last = (system: string): SeedRound | undefined => rounds.findLast((round) => round.system === system);
  return {
    caption: `Proposer updates, those of the shared part included: mean ± SD over seeds; in parentheses as a multiple of ${systems[0]}`,
    numbersFrom: 1,
    heads: ['figure', ...systems.map((system) => costName(costs, system))],
    rows: [
      ...MEASURED.map(({ name, figure, number, cost }) => [
        name,
        ...systems.map((system) => {
          const found = proposers[system]![figure];
          const multiple = cost && found.values.length > 0 ? times(system, found.mean, reference[figure].mean) : '';
          return spreadText(found, number, number) + multiple;
        }),
      ]),
      ...REACHED.map(({ name, of }) => [
        name,
        ...systems.map((system) => {
          const round = last(system);
          return round === undefined ? DASH : spreadText(of(round));
        }),
      ]),
    ],
  };
}
