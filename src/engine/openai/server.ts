/** What is known about a server before the first prompt: where its API is, which program it is, what it serves. */
import { z } from 'zod';
import { UserError } from '../../util/error.ts';
import { checkUrl, type HttpReply, plainUrl } from '../../util/http.ts';
import { otherModel } from '../words.ts';
import type { OpenAIWords } from './options.ts';

/** Programs differ in what they do when they are told nothing. A row per `owned_by` of the model list. */
export interface ServerKind {
  readonly name: string;
  /** Fields that switch off the cuts and penalties it applies by default: a temperature is then all that shapes the draw. */
  readonly sampling: Readonly<Record<string, number>>;
  /** Fields that make it go on with the last message, when that is the assistant's, instead of answering it. */
  readonly goOn: Readonly<Record<string, boolean>>;
  /** Its reply then begins with the text it went on from. */
  readonly repeats: boolean;
}

const VLLM_SAMPLING = { top_k: -1, min_p: 0, repetition_penalty: 1 };

const KINDS: readonly ServerKind[] = [
  {
    name: 'vllm',
    sampling: VLLM_SAMPLING,
    goOn: { add_generation_prompt: false, continue_final_message: true },
    repeats: false,
  },
  { name: 'sglang', sampling: VLLM_SAMPLING, goOn: { continue_final_message: true }, repeats: false },
  { name: 'llamacpp', sampling: { top_k: 0, min_p: 0, repeat_penalty: 1 }, goOn: {}, repeats: true },
];

const OTHER: ServerKind = { name: 'other', sampling: {}, goOn: {}, repeats: false };

/** Root of the API: what /chat/completions is appended to. A bare server gets /v1. `option` gave the address. */
export function apiRoot(url: string, option: string): string {
  const { origin, pathname } = checkUrl(url, `${option} openai:URL`);
  const path = pathname.replace(/\/+$/, '');
  return `${origin}${path === '' ? '/v1' : path}`;
}

const Models = z.looseObject({
  data: z.array(
    z.looseObject({
      id: z.string(),
      aliases: z.array(z.string()).optional(),
      owned_by: z.string().optional(),
      /** vLLM: path of an adapter. */
      root: z.string().nullish(),
      max_model_len: z.number().nullish(),
      meta: z.looseObject({ n_ctx: z.number().optional() }).nullish(),
    }),
  ),
});

export type ServedModel = z.infer<typeof Models>['data'][number];

/** Models of a GET /models reply; null when the server has no such list. */
export function readModels(reply: HttpReply): readonly ServedModel[] | null {
  if (reply.status !== 200) return null;
  const parsed = Models.safeParse(parseJson(reply.text));
  return parsed.success ? parsed.data.data : null;
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export const isServed = (models: readonly ServedModel[], name: string): boolean =>
  models.some(({ id, aliases = [] }) => id === name || aliases.includes(name));

/** @throws UserError naming what is served. */
export function requireServed(
  models: readonly ServedModel[] | null,
  name: string,
  root: string,
  words: OpenAIWords,
): void {
  if (models === null || isServed(models, name)) return;
  const listed = models.slice(0, 20).map(({ id }) => id);
  const more = models.length > listed.length ? `, and ${models.length - listed.length} more` : '';
  const what = listed.length === 0 ? 'it serves no model' : `it serves ${listed.join(', ')}${more}`;
  throw new UserError(`${plainUrl(root)} serves no model "${name}"; ${what}; ${otherModel(words)}`);
}

export const kindOf = (model: ServedModel | undefined): ServerKind =>
  KINDS.find(({ name }) => name === model?.owned_by) ?? OTHER;

/** Longest sequence in the model's tokens, where the server says. */
export const contextOf = (model: ServedModel | undefined): number | null =>
  model?.max_model_len ?? model?.meta?.n_ctx ?? null;
