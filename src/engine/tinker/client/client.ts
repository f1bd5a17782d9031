/**
 * A Tinker server as an Engine: the base model and LoRA models on it, trained and sampled over the wire. Everything that is
 * to last is a checkpoint on the server, named by the path it gave; sessions, models and samplers are made again as needed.
 */
import type { Engine } from '../../../engine.ts';
import { openBusyClock } from '../../../util/busy.ts';
import { UserError } from '../../../util/error.ts';
import { plainUrl } from '../../../util/http.ts';
import { type EngineWords, otherModel } from '../../words.ts';
import { CAPS, type Caps } from './batch.ts';
import { openForget } from './forget.ts';
import { type Futures, futuresOf, type Json } from './futures.ts';
import { openLive } from './live.ts';
import { openModels } from './models.ts';
import { TINKER_TIMES, type TinkerOptions } from './options.ts';
import { PROFILES, type Profile, type ProfileName, profileOf } from './profiles.ts';
import { openSamplers } from './samplers.ts';
import { openSessions } from './sessions.ts';
import { TinkerTraining } from './training.ts';
import { openTransport, Refused, type Transport } from './transport.ts';

export interface TinkerEngine extends Engine {
  readonly profile: ProfileName;
}

const RANK = 32;
const CONCURRENCY = 256;
const WORDS: EngineWords = {
  engine: '--engine',
  model: '--base',
  again: 'run the same command again to go on from the last step',
};

/** @throws UserError: address, key, base model or settings are wrong; InfraError: the server does not answer. */
export async function openTinkerEngine(options: TinkerOptions): Promise<TinkerEngine> {
  const words = { ...WORDS, ...options.words };
  const transport = openTransport(options.url, { ...TINKER_TIMES, ...options.times }, words.again);
  try {
    return await engineOf(transport, options, words);
  } catch (error) {
    await transport.close();
    throw error;
  }
}

async function engineOf(transport: Transport, options: TinkerOptions, words: EngineWords): Promise<TinkerEngine> {
  const { base, tokenizer, rank = RANK, seed = 0, concurrency = CONCURRENCY, warn = () => {} } = options;
  await transport.hello();
  const title = transport.title();
  // Whoever names the profile needs no title.
  const name = profileOf(await (options.profile === undefined ? title : title.catch(() => null)), options.profile);
  const profile: Profile = PROFILES[name];
  if (profile.key === 'needed' && transport.apiKey === null)
    throw new UserError(
      `${plainUrl(transport.url)}: a server of profile ${name} asks for a key; put it into the environment variable TINKER_API_KEY, or name another profile (${Object.keys(PROFILES).join(', ')}) as in --engine tinker:URL#official`,
    );
  const contextLength = contextOf(
    await transport.ask('get_server_capabilities', null, 'get_server_capabilities'),
    options,
    words,
  );
  const caps = await capsOf(transport);

  const told = new Set<string>();
  const warnOnce = (text: string): void => {
    if (!told.has(text)) warn(text);
    told.add(text);
  };
  const clock = openBusyClock();
  const { submit, retrieve, run } = futuresOf(transport, profile, warn);
  const futures: Futures = {
    submit: (...args) => clock.track(() => submit(...args)),
    retrieve: (...args) => clock.track(() => retrieve(...args)),
    run: (...args) => clock.track(() => run(...args)),
  };
  const sessions = openSessions(transport, warn);
  const models = openModels({ transport, futures, sessions, profile, base, rank, seed });
  const live = openLive();
  const samplers = openSamplers({
    transport,
    futures,
    sessions,
    models,
    live,
    profile,
    base,
    tokenizer,
    seed,
    concurrency,
  });
  let trained = 0;
  return {
    // Without the address: the same model elsewhere is the same.
    fingerprint: `tinker/${base}/${name}/rank=${rank}/seed=${seed}`,
    profile: name,
    tokenizer,
    base: { policy: base, optimizer: null },
    parameters: null,
    contextLength,
    policy: async (id) => samplers.policy(id),
    async train(state) {
      const client = new TinkerTraining({
        models,
        live,
        profile,
        profileName: name,
        base,
        tokenizer,
        caps,
        policy: samplers.policy,
        trained: (tokens) => {
          trained += tokens;
        },
        warnOnce,
        again: words.again,
      });
      await client.load(state);
      return client;
    },
    forget: openForget(transport),
    usage: () => ({ ...samplers.usage(), trained }),
    busy: clock.total,
    async close() {
      await sessions.close();
      await transport.close();
    },
  };
}

/** @throws UserError when the server has no such model, or nobody says how long its sequences may be. */
function contextOf(capabilities: Json, { url, base, contextLength }: TinkerOptions, words: EngineWords): number {
  const listed = Array.isArray(capabilities.supported_models) ? (capabilities.supported_models as unknown[]) : [];
  const models = listed.flatMap((m) => (typeof m === 'object' && m !== null ? [m as Json] : []));
  const names = models.map(({ model_name }) => String(model_name));
  const found = models.find(({ model_name }) => model_name === base);
  if (models.length > 0 && found === undefined)
    throw new UserError(
      `${plainUrl(url)} serves no base model "${base}"; it serves ${names.slice(0, 20).join(', ')}; ${otherModel(words)}`,
    );
  const length = contextLength ?? found?.max_context_length;
  if (typeof length === 'number' && length > 0) return length;
  throw new UserError(
    `${plainUrl(url)} does not say how many tokens "${base}" holds; give it as in --engine tinker:URL#context=8192`,
  );
}

/** Largest requests; servers without the route have the official ones. */
async function capsOf(transport: Transport): Promise<Caps> {
  try {
    const config = await transport.ask('client/config', { sdk_version: '0.25.0' }, 'client/config');
    const cap = (name: string, otherwise: number): number => {
      const value = config[name];
      return typeof value === 'number' && value >= 1 ? value : otherwise;
    };
    return {
      datums: cap('fwdbwd_max_chunk_len', CAPS.datums),
      bytes: cap('fwdbwd_max_chunk_bytes_count', CAPS.bytes),
    };
  } catch (error) {
    const status = error instanceof Refused ? error.status : 404;
    if (status === 401 || status === 403) throw error;
    return CAPS;
  }
}
