/**
 * An OpenAI-compatible server as an Engine: it samples and does not train. With the model's tokenizer, prompts and completions
 * are its token ids (vLLM, SGLang, llama.cpp); without, they are code points and the server is sent text.
 */
import type { Completion, Engine, SampleRequest } from '../../engine.ts';
import { codePointTokenizer } from '../../text/code-points.ts';
import { InfraError, UserError } from '../../util/error.ts';
import { plainUrl } from '../../util/http.ts';
import { hash64 } from '../../util/rng.ts';
import { type Adapters, adaptersOf } from './adapters.ts';
import { type Client, check, openClient, PromptTooLong } from './client.ts';
import { TEXT_TAGS } from './messages.ts';
import { LIMITS, type OpenAIOptions, RETRIES } from './options.ts';
import { type Accepted, probe } from './probe.ts';
import { samplerOf } from './sampler.ts';
import { apiRoot, contextOf, isServed, kindOf, readModels, requireServed, type ServedModel } from './server.ts';
import { streamed } from './stream.ts';
import { type Body, type WireName, wireOf } from './wire.ts';

export interface OpenAIEngine extends Engine {
  readonly adapters: Adapters;
  /** One request, whose text is heard as it comes; one that breaks is not begun again. @throws UserError */
  stream(policy: string, request: SampleRequest, onText: (text: string) => void): Promise<Completion>;
}

const CONCURRENCY = 32;
/** Code points of a token, about: only the server counts tokens of text. */
const PER_TOKEN = 4;
/** Code points that a text conversation may have where nobody says: the server is the one that knows. */
const TEXT_CONTEXT = 10_000_000;

/** @throws UserError: wrong address, key or model, or a server that cannot do it; InfraError: it does not answer. */
export async function openOpenAIEngine(options: OpenAIOptions): Promise<OpenAIEngine> {
  const {
    url,
    apiKeyEnv = 'OPENAI_API_KEY',
    concurrency = CONCURRENCY,
    limits,
    retry = RETRIES,
    note = () => {},
  } = options;
  const words = { engine: '--engine', model: '--model', ...options.words };
  const root = apiRoot(url, words.engine);
  const client = openClient({ root, words, apiKeyEnv, concurrency, limits: { ...LIMITS, ...limits }, retry, note });
  try {
    return await engineOf(client, options);
  } catch (error) {
    await client.close();
    if (error instanceof PromptTooLong) throw new UserError(`${plainUrl(root)}: ${error.message} for "Hello"`);
    if (!(error instanceof InfraError)) throw error;
    throw new InfraError(`${error.message}; is the server up and ready? Then run the same command again`, {
      cause: error,
    });
  }
}

async function engineOf(
  client: Client,
  { model, api = 'chat', tokenizer: own, contextLength, seed = 0, extra = {}, warn = () => {} }: OpenAIOptions,
): Promise<OpenAIEngine> {
  const models = await listModels(client);
  requireServed(models, model, client.root, client.words);
  const served = models?.find((m) => isServed([m], model));
  const kind = kindOf(served);
  const tokenizer = own ?? codePointTokenizer(TEXT_TAGS);
  const name: WireName = own === undefined ? api : 'ids';
  const wire = wireOf(name, tokenizer, kind);
  const wholeBody = (id: string, request: SampleRequest): Body => ({
    model: id,
    ...wire.fields(request),
    max_tokens: request.maxTokens,
    temperature: request.temperature,
    top_p: request.topP,
    seed: seedOf(seed, request.key),
    ...kind.sampling,
    ...(request.topK === undefined ? {} : { top_k: request.topK }),
    ...extra,
  });
  const accepted = await probe(client, { wire, name, tokenizer, bodyOf: (request) => wholeBody(model, request) });
  const context = own === undefined ? textContext(contextLength) : (contextLength ?? contextOf(served));
  if (context === null)
    throw new UserError(
      `${plainUrl(client.root)} does not say how many tokens "${model}" holds; give --context-length`,
    );

  const bodyOf = (id: string, request: SampleRequest): Body => accepted.adapt(wholeBody(id, request));
  const sampler = samplerOf({ client, wire, bodyOf, warn });
  const adapters = adaptersOf(client);
  return {
    fingerprint: fingerprintOf([model, name, kind.name, `seed=${seed}`], accepted, extra),
    tokenizer,
    base: { policy: model, optimizer: null },
    parameters: null,
    contextLength: context,
    adapters,
    async policy(id) {
      if (id !== model) await adapters.require(id);
      return sampler.policy(id);
    },
    stream: (id, request, onText) =>
      streamed(client, wire, bodyOf(id, request), request, onText).then(sampler.count, (error) =>
        sampler.failed(error, request),
      ),
    train: async () => {
      throw new UserError(
        'an OpenAI-compatible server samples and does not train; train with --engine local, or with a server of the Tinker wire',
      );
    },
    usage: () => ({ ...sampler.usage(), trained: 0 }),
    close: client.close,
  };
}

const textContext = (tokens: number | undefined): number => (tokens === undefined ? TEXT_CONTEXT : tokens * PER_TOKEN);

/** Null where the server has no list. */
async function listModels(client: Client): Promise<readonly ServedModel[] | null> {
  const reply = await client.get('/models');
  return [404, 405, 501].includes(reply.status) ? null : readModels(check(reply, `${client.root}/models`, client));
}

/** Servers that honour seeds repeat themselves; 31 bits, which all of them take. */
const seedOf = (seed: number, key: string): number => hash64(`${seed}/${key}`)[0] >>> 1;

/** Without the address: the same model elsewhere is the same. */
function fingerprintOf(parts: readonly string[], { refused }: Accepted, extra: Body): string {
  const without = refused.length === 0 ? [] : [`without=${refused.join(',')}`];
  const more = Object.keys(extra).length === 0 ? [] : [`with=${JSON.stringify(extra)}`];
  return ['openai', ...parts, ...without, ...more].join('/');
}
