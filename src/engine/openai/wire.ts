/**
 * What is sent and how the reply is read: a row per way of speaking. Token ids both ways where the server offers them; text
 * elsewhere, whose tokens are code points.
 */
import { z } from 'zod';
import type { Completion, SampleRequest, Tokenizer } from '../../engine.ts';
import { InfraError } from '../../util/error.ts';
import { unknownHere } from '../misfit.ts';
import { messagesOf, type Prompt, textOf } from './messages.ts';
import type { ServerKind } from './server.ts';

export type WireName = 'ids' | 'chat' | 'completions';

/** JSON fields of a request body. */
export type Body = Readonly<Record<string, unknown>>;

export interface Wire {
  readonly path: '/chat/completions' | '/completions';
  /** Fields that carry the prompt, the stops and what else this way of speaking needs. */
  fields(request: SampleRequest): Body;
  /** @throws BadReply when `choice` is not what was asked for. */
  read(choice: Choice, request: SampleRequest): Omit<Completion, 'usage'>;
}

/** A reply that is no completion: cut, or of another shape. It may be whole the next time. */
export class BadReply extends InfraError {}

const TokenLogprob = z.looseObject({ id: z.number().optional(), logprob: z.number() });

const ChoiceSchema = z.looseObject({
  finish_reason: z.string().nullish(),
  /** vLLM, SGLang: the stop string or id that ended it. */
  stop_reason: z.union([z.string(), z.number()]).nullish(),
  message: z
    .looseObject({
      content: z.string().nullish(),
      /** What a server's reasoning parser took out of the text; two names are in use. */
      reasoning_content: z.string().nullish(),
      reasoning: z.string().nullish(),
      refusal: z.string().nullish(),
    })
    .optional(),
  text: z.string().optional(),
  /** vLLM; SGLang says response_token_ids. */
  token_ids: z.array(z.number()).nullish(),
  response_token_ids: z.array(z.number()).nullish(),
  logprobs: z
    .looseObject({
      token_logprobs: z.array(z.number()).nullish(),
      /** llama.cpp: the ids are in here. */
      content: z.array(TokenLogprob).nullish(),
    })
    .nullish(),
});

export type Choice = z.infer<typeof ChoiceSchema>;

const ReplySchema = z.looseObject({
  choices: z.array(ChoiceSchema).min(1),
  usage: z.looseObject({ prompt_tokens: z.number(), completion_tokens: z.number().default(0) }).nullish(),
});

/** @throws BadReply */
export function readReply(json: unknown, wire: Wire, request: SampleRequest): Completion {
  const parsed = ReplySchema.safeParse(json);
  if (!parsed.success) throw new BadReply(`the reply is no completion: ${z.prettifyError(parsed.error).slice(0, 300)}`);
  const { choices, usage } = parsed.data;
  const choice = choices[0]!;
  const completion = choice.finish_reason === 'content_filter' ? WITHHELD : wire.read(choice, request);
  return usage
    ? { ...completion, usage: { prompt: usage.prompt_tokens, completion: usage.completion_tokens } }
    : completion;
}

const WITHHELD: Completion = {
  tokens: [],
  logprobs: [],
  finish: 'stop',
  error: 'the server withheld the reply (content_filter)',
};

export function wireOf(name: WireName, tokenizer: Tokenizer, kind: ServerKind): Wire {
  switch (name) {
    case 'ids':
      return idsWire(tokenizer);
    case 'chat':
      return chatWire(tokenizer, kind);
    case 'completions':
      return completionsWire(tokenizer);
    default:
      return name satisfies never;
  }
}

const idsWire = (tokenizer: Tokenizer): Wire => ({
  path: '/completions',
  fields: ({ prompt, stop }) => ({ prompt, stop_token_ids: stop, return_token_ids: true, logprobs: 1 }),
  read(choice, { prompt, stop }) {
    const inside = choice.logprobs?.content ?? [];
    const tokens = choice.token_ids ?? choice.response_token_ids ?? inside.flatMap(({ id }) => id ?? []);
    const logprobs = choice.logprobs?.token_logprobs ?? inside.map(({ logprob }) => logprob);
    if (logprobs.length !== 0 && logprobs.length !== tokens.length)
      throw new BadReply(`the reply has ${tokens.length} token ids and ${logprobs.length} log-probabilities`);
    if (tokens.length === 0 && (choice.text ?? '') !== '') throw new BadReply('the reply has text but no token ids');
    const misfit = unknownHere(prompt, tokens, tokenizer);
    if (misfit !== null) throw misfit;
    // llama.cpp stops at the model's own end tokens alone.
    const end = tokens.findIndex((id) => stop.includes(id)) + 1;
    if (end === 0) return { tokens, logprobs, finish: finishOf(choice) };
    return { tokens: tokens.slice(0, end), logprobs: logprobs.slice(0, end), finish: 'stop' };
  },
});

const chatWire = (tokenizer: Tokenizer, kind: ServerKind): Wire => ({
  path: '/chat/completions',
  fields: ({ prompt, stop }) => {
    const { messages, unfinished } = messagesOf(prompt, tokenizer);
    return { messages, ...stopStrings(stop, tokenizer), ...(unfinished ? kind.goOn : {}) };
  },
  read(choice, { prompt, stop }) {
    const { message } = choice;
    if (message === undefined) throw new BadReply('the reply has no message');
    const said = message.content ?? message.refusal ?? '';
    const before = kind.repeats ? begun(messagesOf(prompt, tokenizer)) : '';
    return textCompletion(
      thought(message) + (said.startsWith(before) ? said.slice(before.length) : said),
      choice,
      stop,
      tokenizer,
    );
  },
});

/** What the reply goes on from. */
const begun = ({ messages, unfinished }: Prompt): string => (unfinished ? messages.at(-1)!.content : '');

const completionsWire = (tokenizer: Tokenizer): Wire => ({
  path: '/completions',
  fields: ({ prompt, stop }) => ({ prompt: textOf(prompt, tokenizer), ...stopStrings(stop, tokenizer) }),
  read(choice, { stop }) {
    if (choice.text === undefined) throw new BadReply('the reply has no text');
    return textCompletion(choice.text, choice, stop, tokenizer);
  },
});

/** Some servers refuse an empty list, and OpenAI takes four at most. */
const stopStrings = (stop: readonly number[], tokenizer: Tokenizer): Body =>
  stop.length === 0 ? {} : { stop: stop.slice(0, 4).map((id) => tokenizer.decode([id])) };

/** Text is never a control token. The stop that ended it is one, where the server says which; servers leave it out of the text. */
function textCompletion(
  text: string,
  choice: Choice,
  stop: readonly number[],
  tokenizer: Tokenizer,
): Omit<Completion, 'usage'> {
  const finish = finishOf(choice);
  const matched = typeof choice.stop_reason === 'string' ? choice.stop_reason : null;
  const ending =
    finish === 'stop' && matched !== null ? stop.find((id) => tokenizer.decode([id]) === matched) : undefined;
  const tokens = tokenizer.encode([text]);
  return { tokens: ending === undefined ? tokens : [...tokens, ending], logprobs: [], finish };
}

/** The reasoning that the server took out, where the model wrote it. A reply cut inside it has no text after it. */
function thought({ content, reasoning_content, reasoning }: NonNullable<Choice['message']>): string {
  const said = reasoning_content ?? reasoning ?? '';
  if (said === '') return '';
  return content === null || content === undefined || content === ''
    ? `<think>\n${said}`
    : `<think>\n${said}\n</think>\n\n`;
}

/** @throws BadReply when the reply was not finished. */
function finishOf({ finish_reason: reason }: Choice): Completion['finish'] {
  if (reason === 'length') return 'length';
  if (reason === null || reason === undefined || ['abort', 'error'].includes(reason))
    throw new BadReply(`the reply ended with finish_reason ${JSON.stringify(reason ?? null)}`);
  return 'stop';
}
