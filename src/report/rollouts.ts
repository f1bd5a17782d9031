/** Rollouts of a run page by page, for a person to read. Their text is untrusted: it never reaches the terminal as it is. */
import { gunzipSync } from 'node:zlib';
import type { AuditReport } from '../recipe/audit.ts';
import type { RolloutRecord, RunRecord } from '../record.ts';
import type { RunReader } from '../store/read.ts';
import { UserError } from '../util/error.ts';
import { lineSplitter, parseLine } from '../util/jsonl.ts';
import { count } from './format.ts';
import { judged, type Outcome } from './outcome.ts';
import { renderRollout } from './rollout-text.ts';

export interface RolloutFilters {
  /** A step's key, or a path above it: "dr-zero/round2". */
  readonly step?: string | undefined;
  readonly outcome?: Outcome | undefined;
  readonly role?: RolloutRecord['role'] | undefined;
  /** Rollouts a page; 10 when not given. */
  readonly limit?: number | undefined;
  /** Counted from 1. */
  readonly page?: number | undefined;
  /** Columns to wrap at; 100 when not given. */
  readonly columns?: number | undefined;
}

/** One text a rollout, then one line that says where the page stands. UserError: no such step. */
export async function* showRollouts(
  reader: RunReader,
  report: AuditReport,
  { step, outcome, role, limit = 10, page = 1, columns = 100 }: RolloutFilters = {},
): AsyncGenerator<string> {
  if (step !== undefined && reader.keys(step).length === 0) {
    const known = reader.keys().filter((key) => key.includes('/'));
    throw new UserError(
      `--step ${step}: nothing under this key in ${reader.dir}; try one of ${known.slice(0, 3).join(', ')} … ${known.at(-1) ?? ''}`,
    );
  }
  const verdicts = new Map(report.steps.map((own) => [own.key, own.verdicts]));
  const first = (page - 1) * limit;
  let found = 0;
  for await (const { key, value } of reader.events(step)) {
    const record = value as unknown as RunRecord;
    const blob = blobOf(record);
    if (blob === null) continue;
    for (const [index, rollout] of parseRollouts(await reader.blobs.get(blob), blob).entries()) {
      if (role !== undefined && rollout.role !== role) continue;
      const about = judged(record, rollout, index, verdicts.get(key) ?? []);
      if (outcome !== undefined && !about.outcomes.includes(outcome)) continue;
      found++;
      if (found <= first) continue;
      if (found > first + limit) {
        yield `${range(first + 1, first + limit)}; there are more: --page ${page + 1}`;
        return;
      }
      yield renderRollout(rollout, about, { key, number: found, columns });
    }
  }
  if (found === 0) yield 'No rollout matches.';
  else if (found <= first) yield `Page ${page} is empty: ${count(found)} rollouts match.`;
  else yield `${range(first + 1, found)}; there are no more.`;
}

const range = (from: number, to: number): string =>
  from === to ? `Rollout ${count(from)}` : `Rollouts ${count(from)} to ${count(to)}`;

function blobOf(record: RunRecord): string | null {
  switch (record?.kind) {
    case 'step':
    case 'write':
    case 'evaluation':
      return record.rollouts;
    default:
      return null;
  }
}

/** JSON Lines, gzipped or plain. */
export function parseRollouts(bytes: Uint8Array, blob: string): RolloutRecord[] {
  const zipped = bytes[0] === 0x1f && bytes[1] === 0x8b;
  const name = `rollouts ${blob}`;
  const splitter = lineSplitter(name);
  const lines = splitter.push(zipped ? gunzipSync(bytes) : Buffer.from(bytes));
  const rest = splitter.rest();
  return (rest === null ? lines : [...lines, rest]).flatMap((line) => {
    const value = parseLine(line, name);
    return value === undefined ? [] : [value as RolloutRecord];
  });
}
