/**
 * An evaluation on disk: results.jsonl, one item a line in the order of the manifest, and result.json, written last, with the
 * fingerprint and the figures. The same evaluation is the same bytes.
 */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { codeOf, diskError, exists, makeFolder, replaceFile } from '../util/disk.ts';
import { UserError } from '../util/error.ts';
import { readText } from './load/bytes.ts';
import { readJsonLines } from './load/rows.ts';
import { type EvaluationResult, evaluationOf, type ItemResult, isComplete } from './result.ts';
import { type Summary, summarise } from './summary.ts';

const bit = z.union([z.literal(0), z.literal(1)]);

const itemSchema = z.object({
  id: z.string(),
  set: z.string(),
  question: z.string(),
  golden: z.array(z.string()).min(1),
  prediction: z.string().nullable(),
  em: bit,
  coverEm: bit,
  coverEmToken: bit,
  f1: z.number().min(0).max(1),
  searches: z.number().int().min(0),
  emptySearches: z.number().int().min(1).exactOptional(),
  emptyReplies: z.number().int().min(1).exactOptional(),
  stop: z.enum(['answer', 'turn-limit', 'token-limit', 'malformed', 'error']),
  error: z.string().exactOptional(),
});

const headSchema = z.object({
  fingerprint: z.record(z.string(), z.union([z.string(), z.number()])),
  expected: z.number().int().min(0),
  items: z.number().int().min(0),
  complete: z.boolean(),
});

/** What result.json holds. */
export interface ResultHead extends z.infer<typeof headSchema> {
  readonly summary: Summary;
}

export const headOf = ({ fingerprint, expected, items, complete }: EvaluationResult): ResultHead => ({
  fingerprint,
  expected,
  items: items.length,
  complete,
  summary: summarise(items),
});

const FILES: readonly string[] = ['results.jsonl', 'result.json'];

/**
 * An evaluation of a predictions file has a folder of its own. @throws UserError unless the folder is missing, empty, or holds
 * an earlier one and nothing else: what is there already is somebody's.
 */
export async function refuseForeign(dir: string): Promise<void> {
  const names = await readdir(dir).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return [];
    if (codeOf(error) === 'ENOTDIR') throw new UserError(`${dir}: is a file; --out is a folder, give a new one`);
    throw diskError(dir, 'read', error);
  });
  if (names.length === 0) return;
  const others = names.filter((name) => !FILES.includes(name));
  if (others.length === 0 && names.length === FILES.length && (await isOfScore(join(dir, 'result.json')))) return;
  const found = (others.length > 0 ? others : names).slice(0, 3).join(', ');
  throw new UserError(
    `${dir}: is not empty and holds more than an earlier result of score (${found}); give a new folder with --out`,
  );
}

/** Score alone says which predictions it read; an evaluation that ran says which policy. */
async function isOfScore(file: string): Promise<boolean> {
  if (!(await stat(file)).isFile()) return false;
  const text = await readText(file);
  try {
    const { fingerprint } = headSchema.parse(JSON.parse(text));
    return 'predictions' in fingerprint && !('policy' in fingerprint);
  } catch {
    return false;
  }
}

export async function writeEvaluation(dir: string, evaluation: EvaluationResult): Promise<void> {
  const head = headOf(evaluation);
  await makeFolder(dir);
  await replaceFile(join(dir, 'results.jsonl'), evaluation.items.map((item) => `${JSON.stringify(item)}\n`).join(''));
  await replaceFile(join(dir, 'result.json'), `${JSON.stringify(head, null, 2)}\n`);
}

/** Throws UserError when the folder holds no evaluation, or one whose parts disagree. */
export async function readEvaluation(dir: string): Promise<EvaluationResult> {
  const file = join(dir, 'result.json');
  if (!(await exists(file)))
    throw new UserError(
      `${dir}: no evaluation here (result.json is missing); give a folder of evaluate or score --out`,
    );
  const head = checked(headSchema, jsonOf(await readText(file), file), file);
  const lines = join(dir, 'results.jsonl');
  const items: ItemResult[] = [];
  for await (const { row, where } of readJsonLines(lines)) items.push(checked(itemSchema, row, where));
  if (items.length !== head.items || items.length > head.expected)
    throw new UserError(
      `${dir}: results.jsonl holds ${items.length} results, result.json counts ${head.items} of ${head.expected} questions; make the evaluation again`,
    );
  // Refuses an id that occurs twice.
  const { fingerprint, expected } = { ...evaluationOf(head.fingerprint, items, items), expected: head.expected };
  return { fingerprint, items, expected, complete: isComplete(items, expected) };
}

function jsonOf(text: string, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new UserError(`${file}: not JSON; make the evaluation again`);
  }
}

function checked<T>(schema: z.ZodType<T>, value: unknown, where: string): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const { path, message } = parsed.error.issues[0]!;
  throw new UserError(`${where}: ${path.join('.') || 'value'}: ${message}; this is not as evaluate or score writes it`);
}
