/**
 * The body of a search server's reply, whatever it holds: `{"result": [list of hits per query]}`. A hit is
 *
 *   {"document": D, "score"}   D = {"id"?, "contents"} or {"id"?, "content"} or {"id"?, "title"?, "text"}
 *   D with or without "score"  servers that give bare documents
 *
 * A missing id becomes the content id of the text; scores that are missing become 1, 1/2, 1/3, … in the order given.
 * Anything else is a SchemaFailure that names what was found and what was expected, never a list that is quietly empty.
 */

import type { Hit } from '../../retriever.ts';
import type { Passage } from '../../types.ts';
import { InfraError, messageOf } from '../../util/error.ts';
import { contentId } from '../../util/id.ts';
import { said } from '../../util/said.ts';
import { shortened, visible } from '../../util/visible.ts';
import { fromContents } from '../wire.ts';

/** The server answers, but does not speak the contract. */
export class SchemaFailure extends InfraError {
  readonly kind = 'schema';
}

/** One list per query, each of at most k hits in the order of the server. @throws SchemaFailure */
export function readHits(text: string, queries: number, k: number): readonly (readonly Hit[])[] {
  const body = parse(text);
  if (!isRecord(body) || body.result === undefined)
    throw mismatch('the reply', body, '{"result": [one list of hits per query]}');
  const { result } = body;
  if (!Array.isArray(result)) throw mismatch('"result"', result, 'a list with one list of hits per query');
  if (result.length !== queries)
    throw new SchemaFailure(`"result" has ${result.length} lists for ${queries} queries; expected one per query`);
  return result.map((list: unknown, q) => {
    if (!Array.isArray(list)) throw mismatch(`"result"[${q}]`, list, 'a list of hits');
    return readList(list.slice(0, k), `"result"[${q}]`);
  });
}

function readList(list: readonly unknown[], where: string): readonly Hit[] {
  const hits = list.map((hit, i) => readHit(hit, `${where}[${i}]`));
  const scored = hits.every(({ score }) => score !== null);
  return hits.map(({ passage, score }, i) => ({ passage, score: scored ? score! : 1 / (i + 1) }));
}

function readHit(hit: unknown, where: string): { readonly passage: Passage; readonly score: number | null } {
  if (!isRecord(hit)) throw mismatch(where, hit, EXPECTED_HIT);
  const nested = hit.document !== undefined;
  const passage = nested ? readDocument(hit.document, `${where}."document"`) : readDocument(hit, where);
  return { passage, score: readScore(hit.score, where) };
}

function readDocument(document: unknown, where: string): Passage {
  if (!isRecord(document)) throw mismatch(where, document, EXPECTED_DOCUMENT);
  const { id, contents, content, title, text } = document;
  const whole = contents ?? content;
  const titled =
    typeof whole === 'string'
      ? fromContents(whole)
      : whole === undefined && typeof text === 'string' && (title === undefined || typeof title === 'string')
        ? { title: title ?? '', text }
        : null;
  if (titled === null) throw mismatch(where, document, where.endsWith('"document"') ? EXPECTED_DOCUMENT : EXPECTED_HIT);
  const known = readId(id, where) ?? contentId(`${titled.title}\n${titled.text}`);
  return { id: known, source: known, ...titled };
}

function readId(id: unknown, where: string): string | null {
  if (id === undefined || id === null || id === '') return null;
  if (typeof id === 'string' || typeof id === 'number') return String(id);
  throw mismatch(`${where}."id"`, id, 'a text or a number');
}

/** Null when there is none. Some servers write numbers as texts. */
function readScore(score: unknown, where: string): number | null {
  if (score === undefined || score === null) return null;
  const value = typeof score === 'string' && score.trim() !== '' ? Number(score) : score;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  throw mismatch(`${where}."score"`, score, 'a finite number');
}

const EXPECTED_DOCUMENT = 'an object with "contents" (or "content", or "title" and "text")';
const EXPECTED_HIT = `{"document", "score"} with a document that is ${EXPECTED_DOCUMENT}`;

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const words = /^\s*[{[]/.test(text) ? shortened(visible(messageOf(error)), 120) : said(text);
    throw new SchemaFailure(`the reply is not JSON (${words}); expected {"result": [...]}`);
  }
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const mismatch = (where: string, found: unknown, expected: string): SchemaFailure =>
  new SchemaFailure(`${where} is ${described(found)}; expected ${expected}`);

function described(value: unknown): string {
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (!isRecord(value)) return value === undefined ? 'missing' : `${JSON.stringify(value)}`.slice(0, 60);
  const names = Object.keys(value).slice(0, 8);
  return names.length === 0
    ? 'an empty object'
    : `an object with ${names.map((name) => JSON.stringify(name.slice(0, 40))).join(', ')}`;
}
