/**
 * Names of frozen weights on a server: the base model's name, or the checkpoint paths that the server gave. A policy that
 * training can go on from has two of them, what is sampled and what is loaded: `tinker://…/sampler_weights/s1#tinker://…/weights/s1`.
 */
import { UserError } from '../../../util/error.ts';

export interface Weights {
  /** Path that is sampled; null where only training checkpoints are immutable. */
  readonly sampler: string | null;
  /** Path that is loaded; null for a checkpoint made for sampling alone. */
  readonly training: string | null;
}

export const policyId = ({ sampler, training }: Weights): string =>
  [sampler, training].filter((path) => path !== null).join('#');

/** Null for the base model. @throws UserError */
export function readPolicyId(id: string, base: string): Weights | null {
  if (id === base) return null;
  const paths = id.split('#');
  if (paths.length > 2 || !paths.every((path) => /^[a-z]+:\/\/\S+$/.test(path)))
    throw new UserError(
      `policy "${id}" is neither the base model "${base}" nor a path of a checkpoint on the server (tinker://…)`,
    );
  if (paths.length === 2) return { sampler: paths[0]!, training: paths[1]! };
  return /\/weights\//.test(id) ? { sampler: null, training: id } : { sampler: id, training: null };
}
