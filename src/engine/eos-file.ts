/** Ids that end a turn, as a checkpoint directory names them: eos_token_id of its configs, eos_token of its tokenizer. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Tokenizer } from '../engine.ts';
import { codeOf } from '../util/disk.ts';
import { messageOf, UserError } from '../util/error.ts';

/** Empty where the directory names none. @throws UserError for a file that cannot be read. */
export async function loadEos(dir: string, tokenizer: Tokenizer): Promise<readonly number[]> {
  const ids = new Set<number>();
  for (const name of ['config.json', 'generation_config.json']) {
    const { eos_token_id: id } = await readObject(join(dir, name));
    for (const one of Array.isArray(id) ? id : [id]) if (Number.isInteger(one)) ids.add(one);
  }
  const { eos_token: token } = await readObject(join(dir, 'tokenizer_config.json'));
  const text = typeof token === 'object' && token !== null && 'content' in token ? token.content : token;
  if (typeof text === 'string') {
    try {
      ids.add(tokenizer.tag(text));
    } catch {
      // A name that the vocabulary lacks ends nothing.
    }
  }
  return [...ids];
}

async function readObject(file: string): Promise<Record<string, unknown>> {
  try {
    const json: unknown = JSON.parse(await readFile(file, 'utf8'));
    return typeof json === 'object' && json !== null ? (json as Record<string, unknown>) : {};
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return {};
    throw new UserError(`${file} cannot be read as JSON (${messageOf(error)}); fetch the checkpoint again`);
  }
}
