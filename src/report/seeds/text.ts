/** A comparison over seeds for a terminal and as Markdown. */
import type picocolors from 'picocolors';
import type { SeedsReport } from '../../recipe/seeds/report.ts';
import { groupBy } from '../../util/group.ts';
import { captionedLines, captionedMarkdown } from '../captioned.ts';
import { visible } from '../visible.ts';
import { NO_WARNING, SYMBOLS } from '../words.ts';
import { seedTables } from './tables.ts';

/** Names of arms may hold commas. */
export const armList = ({ systems }: Pick<SeedsReport, 'systems'>): string =>
  systems.join(systems.some((name) => name.includes(',')) ? '; ' : ', ');

export const seedsTitle = ({ systems, task, seeds, dirs, auditor }: SeedsReport): string =>
  `${armList({ systems })} in ${task}, ${seeds.length === 1 ? `seed ${seeds[0]} (${dirs.length === 1 ? 'a single run' : `${dirs.length} runs of one seed`})` : `seeds ${seeds.join(', ')}`}, audited by ${auditor}`;

/** Warnings by arm, round and steps, with the seeds that gave them, of those that have the round. */
export function warningLines({ warnings, rounds }: SeedsReport): string[] {
  const groups = groupBy(warnings, ({ system, round, scope }) => JSON.stringify([system, round, scope]));
  return [...groups.values()].map((own) => {
    const { system, round, scope } = own[0]!;
    const ran = rounds.find((r) => r.system === system && r.round === round)!.seeds.length;
    const seeds = [...new Set(own.map(({ seed }) => seed))];
    const where = `${system}, round ${round}${scope === 'proposer' ? ', in proposer steps' : ''}`;
    return `${where}: suspected co-cheating in ${seeds.length} of ${ran} seeds (${seeds.join(', ')})`;
  });
}

/** What a reader must know of the runs before comparing them. */
export function caveatLines({ arms, workers, unfinished }: SeedsReport): string[] {
  const asked = arms.filter(({ settings }) => settings.estimator !== undefined && settings.responses !== undefined);
  return [
    ...asked.map(
      ({ name, settings }) =>
        `${name}: ${settings.responses} responses a question, in the solver's steps too; another number than ${arms[0]!.name} has.`,
    ),
    ...(workers.length > 1
      ? [
          `The runs had ${workers.join(' and ')} workers, which changes the rounding: equal seeds are other draws, and times do not compare.`,
        ]
      : []),
    ...(unfinished.length > 0
      ? [`Not all runs are finished: ${unfinished.join(', ')}. Costs are of those that are, where an arm has one.`]
      : []),
  ];
}

export function seedsText(
  report: SeedsReport,
  { bold, dim, yellow, green }: ReturnType<typeof picocolors.createColors>,
): string {
  const [warnings, caveats] = [warningLines(report), caveatLines(report)];
  return [
    [bold(visible(seedsTitle(report)))],
    ...seedTables(report).map((own) => captionedLines(own, { dim })),
    ...(caveats.length === 0 ? [] : [caveats.map((text) => dim(visible(text)))]),
    SYMBOLS.map(([symbol, meaning]) => dim(`${symbol.padEnd(4)} ${meaning}`)),
    warnings.length === 0 ? [green(NO_WARNING)] : warnings.map((text) => yellow(`! ${visible(text)}`)),
  ]
    .map((lines) => lines.join('\n'))
    .join('\n\n');
}

export const seedsMarkdown = (report: SeedsReport): string =>
  [
    `# ${seedsTitle(report)}`,
    ...seedTables(report).map(captionedMarkdown),
    ...[...caveatLines(report), ...warningLines(report)].map((text) => `- ${text}`),
  ].join('\n\n');
