/** The engine of a run by its settings: the local one with a policy, or a server that trains. */
import { resolve } from 'node:path';
import { readTarget } from '../engine/tinker/client/options.ts';
import { loadTokenizer } from '../engine/tokenizer-file.ts';
import type { EngineWords } from '../engine/words.ts';
import type { Engine, Tokenizer } from '../engine.ts';
import type { Blobs } from '../store.ts';
import { UserError } from '../util/error.ts';
import type { EvolveConfig } from './config.ts';
import { openEngine } from './open-engine.ts';
import { isShipped, openPolicyEngine, policyDir } from './policies.ts';

type EngineSettings = Pick<EvolveConfig, 'engine' | 'base' | 'tokenizer'>;

/** What follows from the engine for the other settings; the local one is what runs have that name none. @throws UserError */
export function settledEngine<T extends EngineSettings>(config: T): T {
  const { engine = 'local', base, tokenizer } = config;
  if (engine === 'local') {
    for (const [flag, value] of Object.entries({ '--base': base, '--tokenizer': tokenizer }))
      if (value !== undefined)
        throw new UserError(
          `${flag} is "${value}", but the local engine takes its model by --policy; name an --engine`,
        );
    const { engine: _, ...rest } = config;
    return rest as T;
  }
  if (!engine.startsWith('tinker:'))
    throw new UserError(`engine is "${engine}"; a run that trains has local or tinker:URL`);
  // What cannot be read should leave no run folder.
  readTarget(engine.slice('tinker:'.length));
  if (base === undefined) throw new UserError(`--engine ${engine} needs --base, what the server calls the model`);
  if (tokenizer === undefined)
    throw new UserError(`--engine ${engine} needs --tokenizer, a folder with the model's tokenizer.json`);
  return { ...config, tokenizer: isShipped(tokenizer) ? tokenizer : resolve(tokenizer) };
}

/** @throws UserError when there is none. */
export const runTokenizer = ({ engine, policy, tokenizer }: EvolveConfig): Promise<Tokenizer> =>
  loadTokenizer(engine === undefined ? policyDir(policy) : tokenizerDir(tokenizer!));

/** @throws UserError; InfraError when its server does not answer. */
export async function openRunEngine(
  config: EvolveConfig,
  blobs: Blobs,
  warn: (text: string) => void,
  words: Partial<Pick<EngineWords, 'model' | 'again'>> = {},
): Promise<Engine> {
  const { engine, policy, workers, base, tokenizer, seed } = config;
  if (engine === undefined) return openPolicyEngine(policyDir(policy), blobs, workers);
  return openEngine(engine, { blobs, workers, warn, seed, base: base!, tokenizer: tokenizer!, words });
}

/** Also of a folder that has a tokenizer and no model. */
const tokenizerDir = (name: string): string => (isShipped(name) ? policyDir(name) : name);
