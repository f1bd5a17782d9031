/**
 * The body of POST /retrieve: `{"queries": [text], "topk"?: n, "return_scores"?: bool}`. Fields that we do not know are
 * passed over, as the original server does. A body that cannot be used says which field is wrong.
 */
import { messageOf } from '../../util/error.ts';

export interface SearchBody {
  readonly queries: readonly string[];
  readonly topk: number;
  readonly scores: boolean;
}

const MAX_QUERIES = 4096;
const MAX_QUERY_CHARS = 16_384;
export const MAX_TOPK = 1000;
/** Queries × topk: a reply has to fit in memory. */
const MAX_HITS = 32_768;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** @param topk what a body without one asks for. */
export function readBody(bytes: Uint8Array, topk: number): SearchBody | { readonly error: string } {
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    return wrong('the body is not UTF-8 text; expected {"queries": ["..."], "topk": 3} in UTF-8');
  }
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch (error) {
    return wrong(`the body is not JSON (${messageOf(error).slice(0, 100)}); expected {"queries": ["..."], "topk": 3}`);
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    return wrong(`the body is ${typeOf(body)}; expected an object with "queries"`);
  const { queries, topk: asked = null, return_scores: scores = null } = body as Record<string, unknown>;

  if (!Array.isArray(queries)) return wrong(`"queries" is ${typeOf(queries)}; expected a list of texts`);
  if (queries.length > MAX_QUERIES)
    return wrong(`"queries" has ${queries.length} entries; at most ${MAX_QUERIES} are answered at once`);
  for (const [i, query] of queries.entries()) {
    if (typeof query !== 'string') return wrong(`"queries"[${i}] is ${typeOf(query)}; expected a text`);
    if (query.length > MAX_QUERY_CHARS)
      return wrong(`"queries"[${i}] has ${query.length} characters; at most ${MAX_QUERY_CHARS} are read`);
  }
  const k = asked ?? topk;
  if (typeof k !== 'number') return wrong(`"topk" is ${typeOf(k)}; expected a whole number`);
  if (!Number.isInteger(k) || k < 1 || k > MAX_TOPK)
    return wrong(`"topk" is ${k}; expected a whole number from 1 to ${MAX_TOPK}`);
  if (queries.length * k > MAX_HITS)
    return wrong(`"queries" × "topk" is ${queries.length * k}; at most ${MAX_HITS} hits are given at once`);
  if (scores !== null && typeof scores !== 'boolean')
    return wrong(`"return_scores" is ${typeOf(scores)}; expected true or false`);
  return { queries, topk: k, scores: scores ?? false };
}

const wrong = (error: string): { readonly error: string } => ({ error });

function typeOf(value: unknown): string {
  if (value === undefined) return 'missing';
  if (value === null) return 'null';
  return Array.isArray(value) ? 'a list' : `a${typeof value === 'object' ? 'n' : ''} ${typeof value}`;
}
