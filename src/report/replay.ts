/** Tables of a replay for a terminal, as Markdown, and as JSON. */
import type picocolors from 'picocolors';
import type { Measure } from '../recipe/audit/scope.ts';
import type { ReplayReport } from '../recipe/replay/report.ts';
import { type CaptionedTable, captionedLines, captionedMarkdown } from './captioned.ts';
import { count, DASH, duration, interval, judgeRequests, share, signed } from './format.ts';
import { spreadText } from './seeds/spread.ts';
import { visible } from './visible.ts';
import { SYMBOLS } from './words.ts';

const SHOWN: readonly Measure[] = ['TP', 'TS', 'A', 'F', 'L'];
const HEADS: Readonly<Record<Measure, string>> = { TP: 'T_P', TS: 'T_S', A: 'A', F: 'F', L: 'L', excess: 'A − T_S' };

export function replayTables(report: ReplayReport): CaptionedTable[] {
  const { base, baseProbe, logged, arms, setup, bank } = report;
  const counts = arms.flatMap(({ seeds, againstCoupled }) => [
    seeds,
    ...(againstCoupled ? [againstCoupled.seeds] : []),
  ]);
  /** Arms that were asked for apart may have other seeds: then each row says how many. */
  const uneven = new Set(counts).size > 1;
  const seedsIn = (n: number | null): string[] => (uneven ? [n === null ? DASH : count(n)] : []);
  const seedsHead = uneven ? ['seeds'] : [];
  const plain = (name: string, scope: NonNullable<ReplayReport['base']>, probe: number | null): string[] => [
    name,
    ...seedsIn(null),
    ...SHOWN.map((m) => share(m === 'excess' ? null : scope.shares?.[m])),
    share(scope.coverage),
    share(probe),
    share(null),
    share(null),
  ];
  return [
    {
      caption: 'The bank; asked again: share of questions whose fact another question of the bank asks too',
      heads: ['questions', 'sources', 'questions a source', 'distinct texts', 'distinct facts', 'asked again'],
      numbersFrom: 0,
      rows: [
        [
          count(setup.questions),
          count(setup.sources),
          (setup.questions / setup.sources).toFixed(1),
          count(bank.texts),
          bank.facts === null ? DASH : count(bank.facts),
          share(bank.repeated),
        ],
      ],
    },
    {
      caption: `The arms: mean ± SD over ${uneven ? 'the seeds that each has' : overSeeds(counts[0] ?? 0)}`,
      heads: ['plan', ...seedsHead, ...SHOWN.map((m) => HEADS[m]), 'J/E', 'probe EM', 'overlap', 'same fact'],
      rows: [
        ...(logged === null ? [] : [plain('logged', logged, null)]),
        ...(base === null ? [] : [plain('base', base, baseProbe)]),
        ...arms.map((arm) => [
          arm.arm,
          ...seedsIn(arm.seeds),
          ...SHOWN.map((m) => spreadText(arm.measures[m])),
          share(arm.coverage.mean),
          arm.probe === null ? share(null) : spreadText(arm.probe),
          share(arm.overlap),
          share(arm.sameFact),
        ]),
      ],
    },
    {
      caption: 'Minus coupled, seed by seed: mean ± SD, and the 95 % interval over sources',
      heads: ['plan', ...seedsHead, 'F', '', 'L', 'A', 'T_S', 'T_P', 'probe EM'],
      rows: arms.flatMap(({ arm, againstCoupled }) =>
        againstCoupled === null
          ? []
          : [
              [
                arm,
                ...seedsIn(againstCoupled.seeds),
                spreadText(againstCoupled.measures.F, signed),
                bounds(interval(againstCoupled.intervals?.F, signed)),
                ...(['L', 'A', 'TS', 'TP'] as const).map((m) => spreadText(againstCoupled.measures[m], signed)),
                againstCoupled.probe === null ? share(null) : spreadText(againstCoupled.probe, signed),
              ],
            ],
      ),
    },
  ].filter(({ rows }) => rows.length > 0);
}

/** Each grader is fitted once a seed. */
const overSeeds = (n: number): string => (n === 1 ? '1 seed (each grader fitted once)' : `${n} seeds`);

const bounds = (text: string): string => text.slice(text.indexOf('['));

export function replayText(report: ReplayReport, colours: ReturnType<typeof picocolors.createColors>): string {
  const { bold, dim } = colours;
  const { setup, config, seeds, auditor, verified } = report;
  const title = visible(
    `replay in ${setup.task}, ${config.updates} ${config.updates === 1 ? 'update' : 'updates'} a grader, ${seeds.length === 1 ? 'seed' : 'seeds'} ${seeds.join(', ')}, audited by ${auditor}`,
  );
  const parts = replayTables(report).map((own) => captionedLines(own, colours));
  const admitted = verified.map(({ verification: v }) => `${count(v.admitted)} of ${count(v.candidates)}`);
  return [
    [bold(title)],
    ...parts,
    SYMBOLS.map(([symbol, meaning]) => dim(`${symbol.padEnd(9)} ${meaning}`)),
    [
      dim('probe EM  exact match of the graders on held-out questions'),
      dim('overlap   share of questions whose source is in the ancestry of their grader'),
      dim('same fact share of questions whose fact is asked in the part of the bank that their grader trains on'),
      ...(admitted.length === 0 ? [] : [dim(`MSV admitted ${admitted.join(', ')} questions`)]),
      ...judgeLines(report).map((line) => dim(line)),
      dim(`wall-clock ${duration(report.ms)}${report.done ? '' : '; not finished'}`),
    ],
  ]
    .map((lines) => lines.join('\n'))
    .join('\n\n');
}

function judgeLines({ auditAsked, judged, unread }: ReplayReport): string[] {
  if (auditAsked === undefined) return [];
  const requests = `judge requests: ${judgeRequests({ judged, unread })} of the replay, ${judgeRequests(auditAsked)} of its audit`;
  return unread + auditAsked.unread === 0
    ? [requests]
    : [requests, 'unread    the judge gave no readable verdict: the response is left out'];
}

export const replayMarkdown = (report: ReplayReport): string =>
  [...replayTables(report).map(captionedMarkdown), ...judgeLines(report).map((line) => `- ${line}`)].join('\n\n');
