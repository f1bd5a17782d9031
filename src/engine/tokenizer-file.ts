/** Reads the tokenizer of a checkpoint directory. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Tokenizer } from '../engine.ts';
import { tokenizerFrom } from '../text/tokenizer.ts';
import { codeOf } from '../util/disk.ts';
import { messageOf, UserError } from '../util/error.ts';

/** tokenizer.json and, where there is one, tokenizer_config.json of `dir`. @throws UserError naming the file. */
export async function loadTokenizer(dir: string): Promise<Tokenizer> {
  const json = await readJson(join(dir, 'tokenizer.json'));
  if (json === null)
    throw new UserError(`${join(dir, 'tokenizer.json')} does not exist; a checkpoint directory needs one`);
  return tokenizerFrom(json, (await readJson(join(dir, 'tokenizer_config.json'))) ?? {});
}

async function readJson(path: string): Promise<unknown> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw new UserError(`${path} cannot be read: ${messageOf(error)}`);
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UserError(`${path} is not JSON (${messageOf(error)}); fetch the checkpoint again`);
  }
}
