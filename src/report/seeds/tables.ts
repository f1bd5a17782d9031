/** The tables of a comparison over seeds: one model, rendered as text, Markdown and HTML. */
import type { Measure } from '../../recipe/audit/scope.ts';
import type { PairedFigure } from '../../recipe/seeds/contrast.ts';
import { leadsPart } from '../../recipe/seeds/part.ts';
import type { SeedRound, SeedsReport } from '../../recipe/seeds/report.ts';
import { idleShare } from '../../recipe/time.ts';
import type { CaptionedTable } from '../captioned.ts';
import { count, DASH, duration, interval, judgeRequests, large, share, signed } from '../format.ts';
import { costName, seedCount, spreadText, timesOf } from './spread.ts';
import { updateTable } from './updates.ts';

const SHOWN: readonly Measure[] = ['TP', 'TS', 'A', 'F', 'L'];
const HEADS = ['T_P', 'T_S', 'A', 'F', 'L'];

/** Shared rounds once, under their own name. */
const rowsOf = ({ rounds }: SeedsReport): { readonly name: string; readonly round: SeedRound }[] =>
  rounds.filter((own) => leadsPart(rounds, own)).map((round) => ({ name: round.part, round }));

export const seedTables = (report: SeedsReport): CaptionedTable[] =>
  [
    auditTable(report),
    proposerTable(report),
    contrastTable(report),
    examTable(report),
    costTable(report),
    ...(report.proposers === null ? [] : [updateTable(report, report.proposers)]),
    questionTable(report),
  ].filter(({ rows }) => rows.length > 0);

const auditTable = (report: SeedsReport): CaptionedTable => ({
  caption: 'Scheduled steps by round, and the exam after it: mean ± SD over seeds',
  numbersFrom: 1,
  heads: ['system', 'round', 'seeds', ...HEADS, 'J/E', 'EM', 'Cover-EM'],
  rows: [
    ...[...(report.base === null ? [] : [{ name: 'base', em: report.base }]), ...report.otherBases].map(
      ({ name, em }) => [name, '0', count(em.values.length), ...HEADS.map(() => DASH), DASH, spreadText(em), DASH],
    ),
    ...rowsOf(report).map(({ name, round }) => [
      name,
      String(round.round),
      seedCount([...SHOWN.map((m) => round.scopes.scheduled[m]), round.coverage, round.em, round.coverEm]),
      ...SHOWN.map((m) => spreadText(round.scopes.scheduled[m])),
      share(round.coverage.mean),
      spreadText(round.em),
      spreadText(round.coverEm),
    ]),
  ],
});

const proposerTable = (report: SeedsReport): CaptionedTable => ({
  caption:
    'Proposer steps apart (the feedback itself), F of solver steps, and the truth of the bank: solver steps memorise under every plan',
  numbersFrom: 1,
  heads: ['system', 'round', ...HEADS, 'F of solver steps', 'T_P of the bank'],
  rows: rowsOf(report)
    .filter(({ round: { scopes } }) => scopes.proposer.F.values.length > 0)
    .map(({ name, round }) => [
      name,
      String(round.round),
      ...SHOWN.map((m) => spreadText(round.scopes.proposer[m])),
      spreadText(round.scopes.solver.F),
      spreadText(round.bankTP),
    ]),
});

const paired = ({ difference, overSources, overSeeds }: PairedFigure): string[] => [
  spreadText(difference, signed),
  bounds(overSources),
  bounds(overSeeds),
];

const bounds = (x: PairedFigure['overSeeds']): string => {
  const text = interval(x, signed);
  return text === DASH ? DASH : text.slice(text.indexOf('['));
};

const contrastTable = ({ contrasts, systems, rounds }: SeedsReport): CaptionedTable => ({
  caption: `Minus ${systems[0]}${contrasts.some(({ a }) => a !== systems[0]) ? ', or what is named' : ''}, seed by seed: mean ± SD, 95 % interval over sources (bootstrap), 95 % interval over seeds (t)`,
  numbersFrom: 2,
  heads: ['system', 'figure', 'round', 'seeds', 'difference', 'over sources', 'over seeds'],
  rows: contrasts.flatMap(({ a, b, round, proposer, scheduled, em }) => {
    const part = rounds.find((own) => own.system === b && own.round === round)!.part;
    const name = a === systems[0] ? part : `${part} − ${a}`;
    const row = (figure: string, found: PairedFigure): string[] => [
      name,
      figure,
      String(round),
      count(found.difference.values.length),
      ...paired(found),
    ];
    const figures = [
      ['F of proposer steps', proposer.F],
      ['T_P of proposer steps', proposer.TP],
      ['F', scheduled.F],
      ['A', scheduled.A],
      ['exam EM', em],
    ] as const;
    return figures.flatMap(([figure, found]) => (found?.difference.values.length ? [row(figure, found)] : []));
  }),
});

function examTable({ exams }: SeedsReport): CaptionedTable {
  const hops = [...new Set(exams.flatMap(({ byHops }) => Object.keys(byHops)))].sort();
  return {
    caption:
      'Exam after the last round: exact match in all and by hop count; minus the base policy, seed by seed, with the 95 % interval over seeds (t)',
    numbersFrom: 1,
    heads: [
      'system',
      'seeds',
      'EM',
      'Cover-EM',
      ...hops.map((h) => `${h} hop${h === '1' ? '' : 's'}`),
      'searches',
      'EM − base',
      'over seeds',
    ],
    rows: exams.map(({ system, em, coverEm, byHops, searches, againstBase }) => [
      system,
      seedCount([em, coverEm, searches, againstBase?.difference ?? null]),
      spreadText(em),
      spreadText(coverEm),
      ...hops.map((h) => spreadText(byHops[h] ?? null)),
      spreadText(
        searches,
        (x) => x.toFixed(2),
        (x) => x.toFixed(2),
      ),
      spreadText(againstBase?.difference ?? null, signed),
      bounds(againstBase?.overSeeds ?? null),
    ]),
  };
}

function costTable({ costs, systems }: SeedsReport): CaptionedTable {
  const first = costs[systems[0]!]!;
  const times = timesOf(costs, systems[0]!);
  return {
    caption: `Cost of a run, its shared part included; in parentheses as a multiple of ${systems[0]}`,
    numbersFrom: 1,
    heads: [
      'system',
      'tokens in',
      'tokens out',
      'trained',
      'rollouts',
      'of them MSV',
      'MSV searches',
      'auxiliary updates',
      'judge requests',
      'time',
      'engine idle',
    ],
    rows: systems.map((system) => {
      const cost = costs[system]!;
      const { usage } = cost;
      return [
        costName(costs, system),
        large(usage.prefilled) + times(system, usage.prefilled, first.usage.prefilled),
        large(usage.sampled) + times(system, usage.sampled, first.usage.sampled),
        large(usage.trained) + times(system, usage.trained, first.usage.trained),
        count(cost.rollouts) + times(system, cost.rollouts, first.rollouts),
        count(cost.verifications),
        count(cost.verificationSearches),
        count(cost.auxiliaryUpdates),
        judgeRequests(cost) + times(system, cost.judged, first.judged),
        duration(cost.ms) + times(system, cost.ms, first.ms),
        share(idleShare(cost), 2),
      ];
    }),
  };
}

const questionTable = (report: SeedsReport): CaptionedTable => ({
  caption:
    'Questions of the first seed: hop mix of the bank, repeated texts, labels that stand in another question, share of the commonest answer, and how many of the responses match',
  numbersFrom: 1,
  heads: ['system', 'round', 'hops 1/2/3/4', 'repeated', 'leaked', 'vote share', 'matches 0…n'],
  rows: rowsOf(report)
    // Recipes on gold questions write none.
    .filter(({ round: { questions } }) => questions.matches.length > 1 || Object.keys(questions.hops).length > 0)
    .map(({ name, round: { round, questions } }) => [
      name,
      String(round),
      [1, 2, 3, 4].map((h) => share(questions.hops[h] ?? 0, 2)).join(' '),
      share(questions.duplicates),
      share(questions.leaked),
      share(questions.voteShare),
      questions.matches.map((x) => share(x, 2)).join(' '),
    ]),
});
