/** `--engine`: what a user names an engine by. A row per kind; `openai:URL` and the like carry their address. */
import { openOpenAIEngine } from '../engine/openai/openai.ts';
import { openTinkerEngine } from '../engine/tinker/client/client.ts';
import { readTarget } from '../engine/tinker/client/options.ts';
import { loadTokenizer } from '../engine/tokenizer-file.ts';
import type { EngineWords } from '../engine/words.ts';
import type { Engine } from '../engine.ts';
import type { Blobs } from '../store.ts';
import { UserError } from '../util/error.ts';
import { isShipped, openPolicyEngine, policyDir } from './policies.ts';

export interface EngineOptions {
  /** Weights of the engines that have some of their own. */
  readonly blobs: Blobs;
  /** Worker threads of the local engine. */
  readonly workers: number;
  /** Base policy of the local engine: a shipped name or a checkpoint directory. */
  readonly policy?: string;
  /** Model name of a server. */
  readonly model?: string;
  /** Base model of a server that trains; `model` where it is not given. */
  readonly base?: string;
  /** How a server is spoken to when it is not by token ids: chat by default. */
  readonly api?: 'chat' | 'completions';
  /** Directory with the tokenizer.json of a server's model: the server is then used with token ids. */
  readonly tokenizer?: string;
  /** Longest sequence, in the model's tokens; an engine that knows its own needs none. */
  readonly contextLength?: number;
  /** Most requests under way at once, for a server. */
  readonly concurrency?: number;
  /** Part of every request's seed. */
  readonly seed?: number;
  /** Hears what goes on meanwhile: a server that has not answered for a while. */
  readonly note?: (text: string) => void;
  /** Hears what is worth telling a user and stops nothing. */
  readonly warn?: (text: string) => void;
  /** For a server that trains, where the command has others than a run. */
  readonly words?: Partial<Pick<EngineWords, 'model' | 'again'>>;
}

interface Row {
  /** `model`: the option for what a server that trains calls it. */
  usage(model?: string): string;
  /** `target` is what follows the colon; empty where there is none. */
  open(target: string, options: EngineOptions): Promise<Engine>;
}

const ROWS: Readonly<Record<string, Row>> = {
  local: {
    usage: () => 'local (with --policy, a shipped policy or a checkpoint directory)',
    async open(target, { policy, blobs, workers }) {
      if (target !== '') throw new UserError(`--engine local:${target}: the local engine takes its model by --policy`);
      return openPolicyEngine(policyDir(policy ?? 'reader'), blobs, workers);
    },
  },
  openai: {
    usage: () => 'openai:URL (with --model)',
    async open(url, { model, tokenizer, api, contextLength, concurrency, seed, note, warn }) {
      if (url === '') throw new UserError('--engine openai: names no server; write openai:http://127.0.0.1:8000');
      if (model === undefined) throw new UserError(`--engine openai:${url} needs --model, the name that it serves`);
      return openOpenAIEngine({
        url,
        model,
        ...(api === undefined ? {} : { api }),
        ...(tokenizer === undefined ? {} : { tokenizer: await loadTokenizer(tokenizer) }),
        ...(contextLength === undefined ? {} : { contextLength }),
        ...(concurrency === undefined ? {} : { concurrency }),
        ...(seed === undefined ? {} : { seed }),
        ...(note === undefined ? {} : { note }),
        ...(warn === undefined ? {} : { warn }),
      });
    },
  },
  tinker: {
    usage: (model = '--base') => `tinker:URL (with ${model} and --tokenizer)`,
    async open(target, { model, base = model, tokenizer, contextLength, concurrency, seed, warn, words = {} }) {
      if (target === '') throw new UserError('--engine tinker: names no server; write tinker:http://127.0.0.1:8001');
      if (base === undefined)
        throw new UserError(
          `--engine tinker:${target} needs ${words.model ?? '--base'}, what the server calls the model`,
        );
      if (tokenizer === undefined)
        throw new UserError(`--engine tinker:${target} needs --tokenizer, a folder with the model's tokenizer.json`);
      const { deadlineMs, ...server } = readTarget(target);
      return openTinkerEngine({
        ...server,
        base,
        tokenizer: await loadTokenizer(isShipped(tokenizer) ? policyDir(tokenizer) : tokenizer),
        ...(deadlineMs === undefined ? {} : { times: { operationMs: deadlineMs } }),
        ...(contextLength === undefined ? {} : { contextLength }),
        ...(concurrency === undefined ? {} : { concurrency }),
        ...(seed === undefined ? {} : { seed }),
        ...(warn === undefined ? {} : { warn }),
        words,
      });
    },
  },
};

/** @throws UserError: no such engine, or settings that it cannot use; InfraError: its server does not answer. */
export async function openEngine(spec: string, options: EngineOptions): Promise<Engine> {
  const colon = spec.indexOf(':');
  const [name, target] = colon < 0 ? [spec, ''] : [spec.slice(0, colon), spec.slice(colon + 1)];
  if (!Object.hasOwn(ROWS, name)) {
    const usages = Object.values(ROWS).map((row) => row.usage(options.words?.model ?? undefined));
    throw new UserError(`--engine is "${spec}"; expected ${usages.join(' or ')}`);
  }
  return ROWS[name]!.open(target, options);
}
