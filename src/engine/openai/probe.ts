/** One token from the server before anything depends on it: does it know us, and which fields does it take? */
import type { SampleRequest, Tokenizer } from '../../engine.ts';
import { IM_END } from '../../text/chat.ts';
import { messageOf, UserError } from '../../util/error.ts';
import { type HttpReply, plainUrl } from '../../util/http.ts';
import { otherText } from '../misfit.ts';
import { type Client, check, notJson, PromptTooLong, refuseErrorBody } from './client.ts';
import { lengthsText } from './context-length.ts';
import { parseJson } from './server.ts';
import { type Body, readReply, type Wire, type WireName } from './wire.ts';

/** Fields that a server may refuse, by what takes their place; null is nothing. */
const REPLACED: Readonly<Record<string, string | null>> = {
  max_tokens: 'max_completion_tokens',
  seed: null,
  stop: null,
  temperature: null,
  top_p: null,
};

/** Tokens of the first reply whose text is compared. */
const IDS = 8;

/** A body as the server takes it, and the fields of ours that it does not. */
export interface Accepted {
  adapt(body: Body): Body;
  readonly refused: readonly string[];
}

export interface ProbeOptions {
  readonly wire: Wire;
  readonly name: WireName;
  readonly tokenizer: Tokenizer;
  readonly bodyOf: (request: SampleRequest) => Body;
}

/** @throws UserError: wrong key, model or address, or no token ids where they are asked for; InfraError. */
export async function probe(client: Client, options: ProbeOptions): Promise<Accepted> {
  const { wire, name, tokenizer, bodyOf } = options;
  const prompt = tokenizer.encode(['Hello']);
  const stop = name === 'ids' ? [] : [tokenizer.tag(IM_END)];
  const request: SampleRequest = {
    prompt,
    maxTokens: name === 'ids' ? IDS : 1,
    temperature: 0,
    topP: 1,
    stop,
    key: 'probe',
  };
  const url = client.root + wire.path;
  const refused: string[] = [];
  for (;;) {
    const reply = await client.probe(wire.path, adapted(bodyOf(request), refused));
    const field = refusedField(reply);
    if (field !== null && !refused.includes(field)) {
      refused.push(field);
      continue;
    }
    const json = settled(reply, url, client);
    const { tokens, counted } = read(json, wire, request, url, name);
    const misfit = name === 'ids' ? otherText(tokens, textIn(json), tokenizer) : null;
    if (misfit !== null) throw misfit;
    if (name === 'ids' && counted !== null && counted !== prompt.length)
      throw new UserError(
        `${plainUrl(url)} counts ${counted} tokens where "Hello" is ${prompt.length} by the tokenizer (${tokenizer.vocabSize} tokens): it does not take ids as they are; leave --tokenizer out to use it with text`,
      );
    return { adapt: (body) => adapted(body, refused), refused };
  }
}

/** A prompt of one word that is too long is no prompt of ours: something stands before it. */
function settled(reply: HttpReply, url: string, client: Client): unknown {
  try {
    const json = parseJson(check(reply, url, client).text);
    if (json === undefined)
      throw new UserError(
        `${notJson(reply, url)}: no OpenAI-compatible server; check its address, which ends before /chat/completions`,
      );
    refuseErrorBody(json, url);
    return json;
  } catch (error) {
    if (!(error instanceof PromptTooLong)) throw error;
    throw new UserError(
      `${plainUrl(url)}: a prompt of one word is too long for the model (${lengthsText(error.lengths)}); give the server a longer context or another chat template`,
    );
  }
}

/** `counted`: prompt tokens by the server's count, if it counts. */
function read(
  json: unknown,
  wire: Wire,
  request: SampleRequest,
  url: string,
  name: WireName,
): { readonly tokens: readonly number[]; readonly counted: number | null } {
  try {
    const { tokens, usage } = readReply(json, wire, request);
    if (name === 'ids' && tokens.length === 0) throw new Error('the reply has no token ids');
    return { tokens, counted: usage?.prompt ?? null };
  } catch (error) {
    if (error instanceof UserError) throw error;
    const hint = name === 'ids' ? '; leave --tokenizer out to use it with text' : '';
    throw new UserError(`${plainUrl(url)} cannot be used: ${messageOf(error)}${hint}`);
  }
}

/** What the server says that its tokens are. */
function textIn(json: unknown): string {
  const text = (json as { choices?: { text?: unknown }[] }).choices?.[0]?.text;
  return typeof text === 'string' ? text : '';
}

function adapted(body: Body, refused: readonly string[]): Body {
  const fields = Object.entries(body).flatMap(([field, value]): [string, unknown][] => {
    if (!refused.includes(field)) return [[field, value]];
    const other = REPLACED[field] ?? null;
    return other === null ? [] : [[other, value]];
  });
  return Object.fromEntries(fields);
}

/** The field that a 4xx reply refuses, if it is one that can be done without. */
function refusedField({ status, text }: HttpReply): string | null {
  if ((status !== 400 && status !== 422) || !REFUSAL.test(text)) return null;
  const field = NAMED.exec(text)?.[1];
  return field !== undefined && Object.hasOwn(REPLACED, field) ? field : null;
}

const REFUSAL = /unsupported|not support|unrecognized|unknown|not permitted|unexpected/i;
const NAMED = new RegExp(`['"\`](${Object.keys(REPLACED).join('|')})['"\`]`);
