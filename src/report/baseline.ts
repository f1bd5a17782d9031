/** Tables of a training baseline for a terminal, as Markdown, and as JSON. */
import picocolors from 'picocolors';
import type { DownstreamAudit } from '../recipe/audit/downstream.ts';
import type { HopMix, TrainReport } from '../recipe/baseline/report.ts';
import { idleShare } from '../recipe/time.ts';
import { type CaptionedTable, captionedLines, captionedMarkdown } from './captioned.ts';
import { count, duration, interval, judgeRequests, large, share, signed } from './format.ts';
import { summaryJson } from './summary.ts';
import { visible } from './visible.ts';
import { caveats, healthLine, SYMBOLS, warningSentences } from './words.ts';

const ROLES: Readonly<Record<string, string>> = {
  proposer: 'questions',
  write: 'bank',
  solver: 'solver',
  evaluate: 'exam',
};

function trainTables(report: TrainReport): CaptionedTable[] {
  return [examTable(report), auditTable(report), hopTable(report.hopMix), costTable(report)].filter(
    ({ rows }) => rows.length > 0,
  );
}

function examTable({ audit: { base, rounds } }: TrainReport): CaptionedTable {
  const exams: readonly (readonly [string, DownstreamAudit | null])[] = [
    ['base', base],
    ...rounds.map(({ round, downstream }) => [`round ${round}`, downstream] as const),
  ];
  const hops = [...new Set(exams.flatMap(([, exam]) => Object.keys(exam?.byHops ?? {})))].sort();
  return {
    caption: `Exact match on ${count(base?.all?.n ?? 0)} held-out questions, all and by hop count; intervals are 95 %`,
    heads: [
      '',
      'EM',
      ...hops.map((h) => `${h} hop${h === '1' ? '' : 's'}`),
      'EM − base',
      'Cover-EM',
      'searches',
      'no answer',
    ],
    rows: exams.flatMap(([name, exam]) =>
      exam === null
        ? []
        : [
            [
              name,
              interval(exam.all?.em),
              ...hops.map((h) => share(exam.byHops[h]?.em.point)),
              interval(exam.againstBase?.em, signed),
              share(exam.all?.coverEm.point),
              exam.searches.toFixed(2),
              count(exam.unanswered),
            ],
          ],
    ),
  };
}

function auditTable({ audit: { rounds, auditor } }: TrainReport): CaptionedTable {
  return {
    caption: `Labels and responses of the training steps, audited by ${auditor}`,
    heads: ['', 'T_P', 'T_S', 'A', 'F', 'L', 'J/E'],
    rows: rounds.flatMap(({ round, scopes: { scheduled } }) => {
      const { shares, coverage, steps } = scheduled;
      const masses = [shares?.TP, shares?.TS, shares?.A, shares?.F, shares?.L, coverage];
      return steps === 0 ? [] : [[`round ${round}`, ...masses.map((x) => share(x))]];
    }),
  };
}

/** `.62 .25 .09 .04` of 1, 2, 3 and 4 hops. */
function mixCells(mix: Readonly<Record<string, number>>): string[] {
  const total = Object.values(mix).reduce((a, b) => a + b, 0);
  const unread = mix.unread ?? 0;
  return [
    ...['1', '2', '3', '4'].map((h) => share(total === 0 ? null : (mix[h] ?? 0) / total)),
    share(total === 0 ? null : unread / total),
    count(total),
  ];
}

function hopTable(mixes: readonly HopMix[]): CaptionedTable {
  return {
    caption: 'Hop mix of the self-written questions, as shares',
    heads: ['', '', '1 hop', '2', '3', '4', 'other', 'n'],
    rows: mixes.flatMap(({ round, prompted, written, kept }) => [
      [`round ${round}`, 'prompted', ...mixCells(prompted)],
      ['', 'written', ...mixCells(written)],
      ...(kept === null ? [] : [['', 'kept', ...mixCells(kept)]]),
    ]),
  };
}

function costTable({ audit: { cost } }: TrainReport): CaptionedTable {
  // Runs without a judge have no column of it.
  const asked = cost.some(({ judged }) => judged > 0);
  return {
    caption: 'Cost',
    heads: [
      '',
      '',
      'steps',
      'time',
      'engine idle',
      'sampled',
      'prefilled',
      'trained',
      ...(asked ? ['judge requests'] : []),
    ],
    rows: cost.map(({ round, phase, steps, usage, judged, unread, ...time }) => [
      round === 0 ? 'base' : `round ${round}`,
      ROLES[phase] ?? phase,
      count(steps),
      duration(time.ms),
      share(idleShare(time), 2),
      large(usage.sampled),
      large(usage.prefilled),
      large(usage.trained),
      ...(asked ? [judgeRequests({ judged, unread })] : []),
    ]),
  };
}

export function trainText(report: TrainReport, colours = picocolors.createColors(false)): string {
  const { bold, dim, yellow } = colours;
  const { config, audit, ms } = report;
  const from = config.gold === null ? '' : `, ${count(config.gold.questions)} gold questions`;
  const title = visible(`${config.recipe} in ${audit.setup.task}${from}, seed ${audit.seed}`);
  const parts = trainTables(report).map((own) => captionedLines(own, colours));
  return [
    [bold(title)],
    ...parts,
    audit.rounds.some(({ scopes }) => scopes.scheduled.steps > 0)
      ? SYMBOLS.map(([symbol, meaning]) => dim(`${symbol.padEnd(4)} ${meaning}`))
      : [],
    alarmLines(report).map((line) => yellow(`! ${visible(line)}`)),
    caveats(audit).map((line) => dim(line)),
    [dim(`wall-clock ${duration(ms)}${audit.done ? '' : '; not finished'}`)],
  ]
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n');
}

export const trainMarkdown = (report: TrainReport): string =>
  [
    ...trainTables(report).map(captionedMarkdown),
    [...alarmLines(report), ...caveats(report.audit)].map((line) => `- ${line}`).join('\n'),
  ].join('\n\n');

const alarmLines = ({ audit }: TrainReport): string[] => [...warningSentences(audit), ...audit.health.map(healthLine)];

export const trainJson = ({ audit, ...rest }: TrainReport) => ({ ...rest, ...summaryJson(audit), config: rest.config });
