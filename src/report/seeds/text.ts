/** A comparison over seeds for a terminal and as Markdown. */
import type picocolors from 'picocolors';
import type { SeedsReport } from '../../recipe/seeds/report.ts';
import { captionedLines, captionedMarkdown } from '../captioned.ts';
import { visible } from '../visible.ts';
import { NO_WARNING, SYMBOLS } from '../words.ts';
import { seedTables } from './tables.ts';

export const seedsTitle = ({ systems, task, seeds, auditor }: SeedsReport): string =>
  `${systems.join(', ')} in ${task}, ${seeds.length === 1 ? `seed ${seeds[0]} (a single run)` : `seeds ${seeds.join(', ')}`}, audited by ${auditor}`;

/** Warnings by system, round and steps, with the seeds that gave them. */
export function warningLines({ warnings, seeds }: SeedsReport): string[] {
  const groups = new Map<string, Set<number>>();
  for (const { seed, system, round, scope } of warnings) {
    const key = `${system}, round ${round}${scope === 'proposer' ? ', in proposer steps' : ''}`;
    groups.set(key, (groups.get(key) ?? new Set()).add(seed));
  }
  return [...groups].map(
    ([key, own]) => `${key}: suspected co-cheating in ${own.size} of ${seeds.length} seeds (${[...own].join(', ')})`,
  );
}

export function seedsText(
  report: SeedsReport,
  { bold, dim, yellow, green }: ReturnType<typeof picocolors.createColors>,
): string {
  const warnings = warningLines(report);
  return [
    [bold(visible(seedsTitle(report)))],
    ...seedTables(report).map((own) => captionedLines(own, { dim })),
    SYMBOLS.map(([symbol, meaning]) => dim(`${symbol.padEnd(4)} ${meaning}`)),
    warnings.length === 0 ? [green(NO_WARNING)] : warnings.map((text) => yellow(`! ${visible(text)}`)),
    ...(report.done ? [] : [[dim('Not all runs are finished.')]]),
  ]
    .map((lines) => lines.join('\n'))
    .join('\n\n');
}

export const seedsMarkdown = (report: SeedsReport): string =>
  [
    `# ${seedsTitle(report)}`,
    ...seedTables(report).map(captionedMarkdown),
    ...warningLines(report).map((text) => `- ${text}`),
  ].join('\n\n');
