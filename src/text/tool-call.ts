/**
 * Reads a search call written as JSON by a model: {"name": "search", "arguments": {"query_list": ["…"]}}. Raw control
 * characters inside strings are repaired; everything else that is not such a call is an error, never a guess.
 */
import { z } from 'zod';
import type { Violation } from '../types.ts';

export type CallArguments =
  | { readonly ok: true; readonly queries: readonly string[]; readonly repaired: readonly 'raw_newline'[] }
  | { readonly ok: false; readonly error: string };

const Arguments = z.union([
  z.object({ query_list: z.array(z.string()) }).transform((a) => a.query_list),
  z.object({ query_list: z.string() }).transform((a) => [a.query_list]),
  z.object({ query: z.string() }).transform((a) => [a.query]),
  z.object({ query: z.array(z.string()) }).transform((a) => a.query),
]);
const Call = z.object({ name: z.literal('search'), arguments: z.unknown() });

/** Raw JSON text of the arguments alone. Blank queries are left out, so the list can be empty. */
export function readArguments(raw: string): CallArguments {
  const json = parseJson(raw);
  return json === null ? { ok: false, error: 'arguments are not valid JSON' } : fromValue(json.value, json.repaired);
}

/** Queries of the whole call, or what is wrong with it. */
export function readToolCall(content: string): readonly string[] | Violation {
  const json = parseJson(content);
  const call = json === null ? null : Call.safeParse(json.value);
  if (!call?.success) return 'malformed_call';
  const given = call.data.arguments;
  const args = typeof given === 'string' ? readArguments(given) : fromValue(given, false);
  if (!args.ok) return 'malformed_call';
  return args.queries.length === 0 ? 'empty_query' : args.queries;
}

function fromValue(value: unknown, repaired: boolean): CallArguments {
  const args = Arguments.safeParse(value);
  if (!args.success) return { ok: false, error: 'arguments need query_list, an array of strings' };
  const queries = args.data.map((query) => query.trim()).filter((query) => query !== '');
  return { ok: true, queries, repaired: repaired ? ['raw_newline'] : [] };
}

function parseJson(raw: string): { readonly value: unknown; readonly repaired: boolean } | null {
  for (const repaired of [false, true]) {
    try {
      return { value: JSON.parse(repaired ? escapeControls(raw) : raw), repaired };
    } catch {}
  }
  return null;
}

/** Control characters inside string literals become escapes; between tokens they are white space already. */
function escapeControls(raw: string): string {
  let out = '';
  let inString = false;
  let escaped = false;
  for (const c of raw) {
    out += inString && c < ' ' ? `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}` : c;
    if (c === '"' && !escaped) inString = !inString;
    escaped = inString && c === '\\' && !escaped;
  }
  return out;
}
