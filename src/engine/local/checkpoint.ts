/** Hugging Face model directories: config.json, model.safetensors, tokenizer.json. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder, replaceFile } from '../../util/disk.ts';
import { messageOf, UserError } from '../../util/error.ts';
import { fromHuggingFace, layoutOf, type ModelConfig, toHuggingFace } from './qwen3.ts';
import { decodeSafetensors, encodeSafetensors } from './safetensors.ts';

export interface Checkpoint {
  readonly config: ModelConfig;
  readonly weights: Float32Array;
}

async function read(dir: string, name: string): Promise<Buffer> {
  const file = join(dir, name);
  try {
    return await readFile(file);
  } catch (error) {
    throw new UserError(
      `${file}: cannot be read; a model directory needs config.json, model.safetensors and tokenizer.json (${messageOf(error)})`,
    );
  }
}

export async function readCheckpoint(dir: string): Promise<Checkpoint> {
  const file = join(dir, 'config.json');
  const text = (await read(dir, 'config.json')).toString('utf8');
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw new UserError(`${file}: not JSON (${messageOf(error)}); fetch the checkpoint again`);
  }
  if (typeof json !== 'object' || json === null)
    throw new UserError(`${file}: not a JSON object; fetch the checkpoint again`);
  const config = fromHuggingFace(json as Record<string, unknown>, file);
  const bytes = await read(dir, 'model.safetensors');
  return { config, weights: decodeSafetensors(layoutOf(config), bytes, join(dir, 'model.safetensors')) };
}

/** The weights are written last and whole: a directory with model.safetensors is complete. */
export async function writeCheckpoint(dir: string, { config, weights }: Checkpoint): Promise<void> {
  await makeFolder(dir);
  await replaceFile(join(dir, 'config.json'), `${JSON.stringify(toHuggingFace(config), null, 2)}\n`);
  await replaceFile(join(dir, 'model.safetensors'), encodeSafetensors(layoutOf(config), weights));
}
