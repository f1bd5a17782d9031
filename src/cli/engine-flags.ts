/** Which model a command runs: a policy on the local engine, or what a server serves. */
import { type Command, Option } from 'commander';
import { PROFILES } from '../engine/tinker/client/profiles.ts';
import type { EngineWords } from '../engine/words.ts';
import type { Engine } from '../engine.ts';
import { openEngine } from '../recipe/open-engine.ts';
import { UserError } from '../util/error.ts';
import { countOption } from './count-option.ts';
import { memoryBlobs } from './memory-blobs.ts';
import { choosePolicy, type PolicyChoice } from './policy-of.ts';
import type { ProgressView } from './progress.ts';

export interface EngineFlags {
  readonly policy?: string;
  readonly engine: string;
  readonly model?: string;
  readonly api?: 'chat' | 'completions';
  readonly tokenizer?: string;
  readonly contextLength?: number;
  readonly concurrency?: number;
}

const DEFAULT_POLICY = 'reader';
const GROUP = 'The model:';
/** Replies of the local engine depend on it. */
const WORKERS = 2;

export function addEngineFlags(command: Command): Command {
  const options = [
    new Option(
      '--policy <name>',
      `local: a shipped name, a checkpoint directory, or RUN[:SYSTEM] (default: ${DEFAULT_POLICY})`,
    ),
    new Option(
      '--engine <name>',
      `local, openai:URL or tinker:URL[#PROFILE]; profiles, where a server is not told by itself: ${Object.keys(PROFILES).join(', ')}`,
    ).default('local'),
    new Option('--model <name>', 'what the server calls it'),
    new Option('--api <name>', 'how the server is sent text (default: chat)').choices(['chat', 'completions']),
    new Option('--tokenizer <dir>', 'folder with its tokenizer.json: the server is sent token ids instead of text'),
    countOption('--context-length <n>', 'longest prompt and reply, where the server does not say'),
    countOption('--concurrency <n>', 'requests to the server at once'),
  ];
  for (const option of options) command.addOption(option.helpGroup(GROUP));
  return command;
}

/** What only a server has a use for, by its flag. */
const OF_SERVERS = {
  model: '--model',
  api: '--api',
  tokenizer: '--tokenizer',
  contextLength: '--context-length',
  concurrency: '--concurrency',
} as const satisfies Partial<Record<keyof EngineFlags, string>>;

/** Null: the policy is what a server serves. @throws UserError for flags that would have no effect */
export async function chosenPolicy(flags: EngineFlags): Promise<PolicyChoice | null> {
  const { policy, engine } = flags;
  if (engine === 'local') {
    refuseServerFlags(flags);
    return choosePolicy(policy ?? DEFAULT_POLICY);
  }
  if (policy === undefined) return null;
  throw new UserError(`--policy is "${policy}", but --engine ${engine} has a model of its own; name it with --model`);
}

function refuseServerFlags(flags: EngineFlags): void {
  const useless = (Object.keys(OF_SERVERS) as (keyof typeof OF_SERVERS)[]).find((flag) => flags[flag] !== undefined);
  if (useless !== undefined)
    throw new UserError(
      `${OF_SERVERS[useless]} is for a server; add --engine openai:URL, or name a local policy with --policy`,
    );
}

/** What the user calls the model: policies of a run have no other name than a hash. */
export const titleOf = ({ engine, policy, model }: EngineFlags): string =>
  engine === 'local' ? `policy ${policy ?? DEFAULT_POLICY}` : `model ${model ?? engine}`;

export function chosenEngine(
  { engine, model, api, tokenizer, contextLength, concurrency }: EngineFlags,
  choice: PolicyChoice | null,
  { note, warn }: Pick<ProgressView, 'note' | 'warn'>,
  words: Partial<Pick<EngineWords, 'model' | 'again'>> = {},
): Promise<Engine> {
  if (choice !== null) return openEngine(engine, { blobs: choice.blobs, workers: WORKERS, policy: choice.base });
  return openEngine(engine, {
    blobs: memoryBlobs(),
    workers: WORKERS,
    note,
    warn: (text) => warn(`Warning: ${text}`),
    words: { model: OF_SERVERS.model, ...words },
    ...(model === undefined ? {} : { model }),
    ...(api === undefined ? {} : { api }),
    ...(tokenizer === undefined ? {} : { tokenizer }),
    ...(contextLength === undefined ? {} : { contextLength }),
    ...(concurrency === undefined ? {} : { concurrency }),
  });
}
