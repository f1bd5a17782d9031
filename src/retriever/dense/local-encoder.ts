/**
 * An encoder in a local folder (config.json, tokenizer.json and an ONNX export under onnx/), run by the optional package
 * @huggingface/transformers. Mean of the last hidden states, length 1. Nothing is ever downloaded.
 */
import { basename, dirname, join, resolve } from 'node:path';
import pLimit from 'p-limit';
import type { Encoder } from '../../retriever.ts';
import { exists } from '../../util/disk.ts';
import { InfraError, messageOf, UserError } from '../../util/error.ts';
import { type Prefixes, prefixesOf } from './prefixes.ts';
import { normalise } from './unit.ts';

/** What we use of the package. */
export interface Transformers {
  readonly env: { allowRemoteModels: boolean; allowLocalModels: boolean; localModelPath: string };
  pipeline(task: 'feature-extraction', model: string, options: { readonly dtype: string }): Promise<Extract>;
}

type Extract = (
  texts: readonly string[],
  options: { readonly pooling: 'mean'; readonly normalize: true },
) => Promise<{ readonly dims: readonly number[]; readonly data: ArrayLike<number> }>;

export interface LocalEncoderOptions {
  readonly prefixes?: Partial<Prefixes>;
  /** Texts run together. Default 16. */
  readonly batch?: number;
  readonly load?: () => Promise<Transformers>;
}

/** Exports by file and what the package calls them; the first that is there is used. */
const EXPORTS = [
  { file: join('onnx', 'model.onnx'), dtype: 'fp32' },
  { file: join('onnx', 'model_fp16.onnx'), dtype: 'fp16' },
  { file: join('onnx', 'model_quantized.onnx'), dtype: 'q8' },
] as const;

const PACKAGE = '@huggingface/transformers';

/** The name of the encoder is that of its folder. @throws UserError for a folder without a model, or without the package. */
export async function localEncoder(dir: string, options: LocalEncoderOptions = {}): Promise<Encoder> {
  const { batch = 16, load = () => import(PACKAGE) as Promise<Transformers> } = options;
  const folder = resolve(dir);
  const dtype = await exportIn(folder, dir);
  const name = basename(folder);
  const prefixes = prefixesOf(name, options.prefixes);
  const extract = await openModel(await loaded(load), folder, dtype);
  const run = async (texts: readonly string[]) => {
    const { dims, data } = await extract(texts, { pooling: 'mean', normalize: true }).catch((error) => {
      throw new InfraError(`The encoder in ${dir} failed: ${messageOf(error)}`, { cause: error });
    });
    if (dims.length !== 2 || dims[0] !== texts.length)
      throw new InfraError(`The encoder in ${dir} gave vectors of shape ${dims.join('×')} for ${texts.length} texts`);
    return { dimension: dims[1]!, data };
  };
  const { dimension } = await run(['dimension']);
  // The model is one session: another embed waits its turn.
  const limit = pLimit(1);
  return {
    name,
    dimension,
    prefixes,
    async embed(texts, as) {
      const rows = new Float32Array(texts.length * dimension);
      for (let from = 0; from < texts.length; from += batch) {
        const part = texts.slice(from, from + batch).map((text) => prefixes[as] + text);
        rows.set((await limit(run, part)).data, from * dimension);
      }
      return normalise(rows, dimension, `The encoder in ${dir}`);
    },
  };
}

/** @param shown the folder as the user gave it. */
async function exportIn(folder: string, shown: string): Promise<string> {
  const refuse = (file: string) =>
    new UserError(`${shown} holds no encoder: there is no ${file} in it. Give the folder of an ONNX export.`);
  for (const file of ['config.json', 'tokenizer.json']) if (!(await exists(join(folder, file)))) throw refuse(file);
  for (const { file, dtype } of EXPORTS) if (await exists(join(folder, file))) return dtype;
  throw refuse(EXPORTS.map(({ file }) => file).join(' or '));
}

async function loaded(load: () => Promise<Transformers>): Promise<Transformers> {
  try {
    return await load();
  } catch (error) {
    throw new UserError(
      `A local encoder needs the optional package ${PACKAGE} (${messageOf(error).split('\n')[0]}). ` +
        `Install it beside crossfold with: npm install ${PACKAGE}@4.3.2; or use an embeddings server: http://host:port/v1#model.`,
      { cause: error },
    );
  }
}

async function openModel({ env, pipeline }: Transformers, folder: string, dtype: string): Promise<Extract> {
  env.allowRemoteModels = false;
  env.allowLocalModels = true;
  env.localModelPath = dirname(folder);
  try {
    return await pipeline('feature-extraction', basename(folder), { dtype });
  } catch (error) {
    throw new UserError(`${folder} cannot be opened as an encoder: ${messageOf(error)}`, { cause: error });
  }
}
