/** One completion as server-sent events: its text is heard as it comes, then the chunks are read as the whole they make. */
import { createParser } from 'eventsource-parser';
import { request as httpRequest } from 'undici';
import { z } from 'zod';
import type { Completion, SampleRequest } from '../../engine.ts';
import { codeOf } from '../../util/disk.ts';
import { InfraError, messageOf, UserError } from '../../util/error.ts';
import { plainUrl } from '../../util/http.ts';
import { said } from '../../util/said.ts';
import { type Client, check, masked, PromptTooLong } from './client.ts';
import { tooLong } from './context-length.ts';
import { parseJson } from './server.ts';
import { BadReply, type Body, readReply, type Wire } from './wire.ts';

const Delta = z.looseObject({
  content: z.string().nullish(),
  reasoning_content: z.string().nullish(),
  reasoning: z.string().nullish(),
});
const Chunk = z.looseObject({
  choices: z
    .array(
      z.looseObject({
        delta: Delta.nullish(),
        text: z.string().nullish(),
        finish_reason: z.string().nullish(),
        stop_reason: z.union([z.string(), z.number()]).nullish(),
        token_ids: z.array(z.number()).nullish(),
        logprobs: z.looseObject({}).nullish(),
      }),
    )
    .default([]),
  usage: z.unknown().optional(),
  error: z.unknown().optional(),
});

/** @throws UserError, PromptTooLong, InfraError */
export async function streamed(
  client: Client,
  wire: Wire,
  body: Body,
  request: SampleRequest,
  onText: (text: string) => void,
): Promise<Completion> {
  const url = client.root + wire.path;
  return client.run(async ({ dispatcher, headers, limits }) => {
    const late = AbortSignal.timeout(limits.totalMs);
    try {
      const reply = await httpRequest(url, {
        dispatcher,
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'text/event-stream', ...headers },
        body: JSON.stringify({ ...body, stream: true, stream_options: { include_usage: true } }),
        signal: late,
      });
      if (reply.statusCode !== 200) {
        const bytes = new Uint8Array(await reply.body.arrayBuffer());
        const text = masked(new TextDecoder().decode(bytes), client.keyName);
        const header = (name: string): string | undefined => [reply.headers[name]].flat()[0];
        check({ status: reply.statusCode, header, bytes, text }, url, client);
      }
      const whole = joiner(onText, url, client.keyName);
      const decoder = new TextDecoder();
      for await (const bytes of reply.body) whole.feed(decoder.decode(bytes as Uint8Array, { stream: true }));
      return readReply(whole.reply(wire), wire, request);
    } catch (error) {
      if (error instanceof UserError || error instanceof InfraError || error instanceof PromptTooLong) throw error;
      const why = late.aborted ? `no end within ${limits.totalMs / 1000} s` : messageOf(error) || codeOf(error);
      throw new InfraError(`${plainUrl(url)}: the reply broke off (${why})`, { cause: error });
    }
  });
}

function joiner(onText: (text: string) => void, url: string, keyName: string) {
  const said = { text: '', reasoning: '' };
  const ids: number[] = [];
  const logprobs = { token_logprobs: [] as number[], content: [] as unknown[] };
  let ending: { finish_reason?: unknown; stop_reason?: unknown } = {};
  let usage: unknown;
  const hear = (text: string): void => {
    if (text !== '') onText(text);
  };
  const take = (data: string): void => {
    if (data === '[DONE]') return;
    const parsed = Chunk.safeParse(parseJson(data));
    if (!parsed.success) throw new BadReply(`${plainUrl(url)}: an event of the reply is no chunk`);
    if (parsed.data.error !== undefined) throw streamError(masked(data, keyName), url);
    if (parsed.data.usage) usage = parsed.data.usage;
    const choice = parsed.data.choices[0];
    if (choice === undefined) return;
    const text = choice.delta?.content ?? choice.text ?? '';
    said.text += text;
    said.reasoning += choice.delta?.reasoning_content ?? choice.delta?.reasoning ?? '';
    ids.push(...(choice.token_ids ?? []));
    collect(choice.logprobs?.token_logprobs, logprobs.token_logprobs);
    collect(choice.logprobs?.content, logprobs.content);
    if (choice.finish_reason) ending = { finish_reason: choice.finish_reason, stop_reason: choice.stop_reason };
    hear(text);
  };
  const parser = createParser({ onEvent: ({ data }) => take(data) });
  return {
    feed: (text: string): void => parser.feed(text),
    /** The reply that the same request without streaming would have had. */
    reply(wire: Wire): unknown {
      const spoken =
        wire.path === '/chat/completions'
          ? { message: { content: said.text, reasoning_content: said.reasoning } }
          : { text: said.text };
      const filled = Object.entries({ ...logprobs, token_ids: ids }).filter(([, list]) => list.length > 0);
      const { token_ids, ...rest } = Object.fromEntries(filled);
      return { choices: [{ ...spoken, ...ending, token_ids, logprobs: rest }], usage };
    },
  };
}

function collect<T>(from: unknown, into: T[]): void {
  if (Array.isArray(from)) for (const item of from) into.push(item as T);
}

function streamError(data: string, url: string): Error {
  const lengths = tooLong(data);
  return lengths === null
    ? new InfraError(`${plainUrl(url)}: the reply broke off (${said(data)})`)
    : new PromptTooLong(lengths);
}
