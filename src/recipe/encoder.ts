/** Which encoder a name stands for. */
import { stat } from 'node:fs/promises';
import { localEncoder } from '../retriever/dense/local-encoder.ts';
import type { Prefixes } from '../retriever/dense/prefixes.ts';
import { serverEncoder } from '../retriever/dense/server-encoder.ts';
import type { Encoder } from '../retriever.ts';
import { UserError } from '../util/error.ts';

export interface EncoderOptions {
  /** In place of those that go with the model's name. */
  readonly prefixes?: Partial<Prefixes>;
  /** Default: the environment of this process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** Holds the key of an embeddings server that wants one. */
export const ENCODER_KEY = 'CROSSFOLD_ENCODER_KEY';

/**
 * @param spec http(s)://host:port/v1#model for a server, or the folder of a local model.
 * @throws UserError for anything else; InfraError when the server fails.
 */
export async function openEncoder(
  spec: string,
  { prefixes = {}, env = process.env }: EncoderOptions = {},
): Promise<Encoder> {
  if (/^https?:\/\//i.test(spec)) {
    const [url, model] = atFirst(spec, '#');
    if (model === '')
      throw new UserError(`Encoder ${spec} names no model; write it behind a #, as in ${url}#intfloat/e5-base-v2`);
    const key = env[ENCODER_KEY];
    return serverEncoder({ url, model, prefixes, ...(key === undefined || key === '' ? {} : { key }) });
  }
  const isFolder = await stat(spec).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (!isFolder)
    throw new UserError(
      `Encoder "${spec}" is neither a server nor a folder; expected http://host:port/v1#model or the folder of a local model`,
    );
  return localEncoder(spec, { prefixes });
}

function atFirst(text: string, mark: string): readonly [string, string] {
  const at = text.indexOf(mark);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + mark.length)];
}
