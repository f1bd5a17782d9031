/** A frozen bank (method.md section 4): questions with adopted labels and sources, of a run or written by hand as JSONL. */
import { openRows } from '../../benchmark/load/rows.ts';
import type { BankItem } from '../../record.ts';
import type { RunReader } from '../../store/read.ts';
import type { Hops } from '../../types.ts';
import { UserError } from '../../util/error.ts';
import { rng } from '../../util/rng.ts';
import { reword } from '../../world/reword.ts';
import type { World } from '../../world/world.ts';
import { readRun } from '../rounds.ts';

export interface BankQuestion extends BankItem {
  /** What the bank's own loop answered, where it says; null is a response without an answer. */
  readonly responses?: readonly (string | null)[];
  /** Accepted answers, where somebody knows them. */
  readonly reference?: readonly string[];
}

/** What one system admitted, round by round; a shared round is part of it. UserError: another kind of run, no such system, or nothing yet. */
export async function bankOfRun(reader: RunReader, system?: string): Promise<readonly BankQuestion[]> {
  if (reader.manifest.recipe === 'replay')
    throw new UserError(
      `${reader.dir}: holds a replay, which admits no questions; name the folder of a run of evolve, compare or train r-zero`,
    );
  const { setup, rounds, done } = await readRun(reader);
  const name = system ?? setup.systems[0]!;
  if (!setup.systems.includes(name))
    throw new UserError(`--system is "${name}"; ${reader.dir} has ${setup.systems.join(', ')}`);
  const bank = rounds.flatMap((round) => (round.system === name ? (round.write?.record.bank ?? []) : []));
  if (bank.length === 0)
    throw new UserError(
      done
        ? `${reader.dir}: ${name} has admitted no question, and the run is finished; name a run of evolve, compare or train r-zero that has a bank`
        : `${reader.dir}: ${name} has admitted no question yet; let the run go on first`,
    );
  return bank;
}

/** One line of a bank file. */
export const bankLine = ({ id, question, label, source, hops, responses, reference }: BankQuestion): string =>
  JSON.stringify({
    id,
    question,
    label,
    source,
    hops,
    ...(responses === undefined ? {} : { responses }),
    ...(reference === undefined ? {} : { reference }),
  });

const isHops = (value: unknown): value is Hops => value === 1 || value === 2 || value === 3 || value === 4;
const isText = (value: unknown): value is string => typeof value === 'string' && value.trim() !== '';

/** @param where file and line, for the message. */
export function parseBankLine(row: unknown, where: string): BankQuestion {
  if (typeof row !== 'object' || row === null || Array.isArray(row))
    throw new UserError(`${where}: not an object; expected {"question", "label", "source"} and optional fields`);
  const { id, question, label, source, hops = 1, responses, reference } = row as Record<string, unknown>;
  for (const [name, value] of Object.entries({ question, label, source }))
    if (!isText(value))
      throw new UserError(
        `${where}: "${name}" is ${JSON.stringify(value) ?? 'missing'}; expected a text that is not empty`,
      );
  if (!isHops(hops)) throw new UserError(`${where}: "hops" is ${JSON.stringify(hops)}; expected 1, 2, 3 or 4`);
  if (responses !== undefined && !isList(responses, (r) => r === null || typeof r === 'string'))
    throw new UserError(`${where}: "responses" must be a list of texts, null for a response without an answer`);
  const aliases = typeof reference === 'string' ? [reference] : reference;
  if (aliases !== undefined && !isList(aliases, isText))
    throw new UserError(`${where}: "reference" must be a text or a list of texts`);
  return {
    id: isText(id) || typeof id === 'number' ? String(id) : where.slice(where.lastIndexOf(':') + 1),
    question: question as string,
    label: label as string,
    source: source as string,
    hops,
    ...(responses === undefined ? {} : { responses: responses as (string | null)[] }),
    ...(aliases === undefined ? {} : { reference: aliases as string[] }),
  };
}

const isList = (value: unknown, holds: (item: unknown) => boolean): boolean =>
  Array.isArray(value) && value.every(holds);

/** Any form of rows (JSON Lines, CSV, Parquet, packed or not). UserError names file and line. */
export async function readBankFile(path: string): Promise<readonly BankQuestion[]> {
  const bank: BankQuestion[] = [];
  const ids = new Set<string>();
  for await (const { row, where } of (await openRows(path)).rows) {
    const item = parseBankLine(row, where);
    if (ids.has(item.id))
      throw new UserError(`${where}: the id "${item.id}" is used twice; give each question its own`);
    ids.add(item.id);
    bank.push(item);
  }
  if (bank.length === 0) throw new UserError(`${path}: no question; expected {"question", "label", "source"} a line`);
  return bank;
}

/** `limit` questions of the bank, drawn by keyed shuffle, in the bank's order. */
export function sampleBank(bank: readonly BankQuestion[], limit: number): readonly BankQuestion[] {
  if (limit >= bank.length) return bank;
  const kept = new Set(
    rng('bank sample')
      .shuffle(bank.map((_, i) => i))
      .slice(0, limit),
  );
  return bank.filter((_, i) => kept.has(i));
}

/** Every question in up to `n` wordings, `ID/w0` as it was asked; one that is no chain of relations is kept as it is. */
export const rewordBank = (bank: readonly BankQuestion[], world: World, n: number): readonly BankQuestion[] =>
  bank.flatMap((item) => {
    const texts = reword(world, item.question, n, item.id);
    return texts === null ? [item] : texts.map((question, i) => ({ ...item, id: `${item.id}/w${i}`, question }));
  });
