/** Base policies: the shipped ones by name, any other by its directory. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Checkpoint, readCheckpoint } from '../engine/local/checkpoint.ts';
import { openLocalEngine } from '../engine/local/local.ts';
import { loadTokenizer } from '../engine/tokenizer-file.ts';
import type { Engine, Tokenizer } from '../engine.ts';
import type { Blobs } from '../store.ts';
import { UserError } from '../util/error.ts';

export const SHIPPED = ['mini', 'reader'] as const;
export type PolicyName = (typeof SHIPPED)[number];

/** policies/ at the package root, from source and from the build alike. */
const policiesRoot = fileURLToPath(new URL('../../policies', import.meta.url));

export const isShipped = (policy: string): policy is PolicyName => (SHIPPED as readonly string[]).includes(policy);

export function policyDir(nameOrPath: string): string {
  if (isShipped(nameOrPath)) return join(policiesRoot, nameOrPath);
  if (existsSync(join(nameOrPath, 'config.json'))) return nameOrPath;
  throw new UserError(
    `policy "${nameOrPath}": neither a shipped policy (${SHIPPED.join(', ')}) nor a directory with config.json, model.safetensors and tokenizer.json`,
  );
}

export interface PolicyFiles extends Checkpoint {
  readonly tokenizer: Tokenizer;
}

/** @throws UserError when a file is missing, damaged, or from another checkpoint than the rest. */
export async function readPolicy(dir: string): Promise<PolicyFiles> {
  const { config, weights } = await readCheckpoint(dir);
  const tokenizer = await loadTokenizer(dir);
  if (tokenizer.vocabSize > config.vocabSize) {
    throw new UserError(
      `${dir}: tokenizer.json has ${tokenizer.vocabSize} tokens but config.json says vocab_size ${config.vocabSize}; they must come from one checkpoint`,
    );
  }
  return { config, weights, tokenizer };
}

export const openPolicyEngine = async (dir: string, blobs: Blobs, workers: number): Promise<Engine> =>
  openLocalEngine({ ...(await readPolicy(dir)), blobs, workers });
