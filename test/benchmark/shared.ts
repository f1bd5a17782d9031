/** Shared cases and real data, when the checkout has them beside it; never part of the repository. */
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const shared = fileURLToPath(new URL('../../../shared/', import.meta.url));

interface Case {
  // biome-ignore lint/suspicious/noExplicitAny: untyped JSON read by a test
  readonly input: any;
  readonly expected: Readonly<Record<string, unknown>>;
}

/** Prints why when there are none. */
export function sharedCases(kind: string): readonly Case[] {
  const file = `${shared}cases/cases.jsonl`;
  if (!existsSync(file)) {
    console.log(`skipped: no shared cases at ${file}`);
    return [];
  }
  const rows = readFileSync(file, 'utf8').trim().split('\n');
  return rows.map((row) => JSON.parse(row)).filter((row) => row.kind === kind);
}

export const dataPath = (name: string): string => `${shared}data/${name}`;

/** Prints why when there is none. */
export function haveData(): boolean {
  const have = existsSync(dataPath(''));
  if (!have) console.log(`skipped: no real questions in ${dataPath('')}`);
  return have;
}
