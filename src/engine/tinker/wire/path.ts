/** Checkpoint paths: tinker://<run>/<weights|sampler_weights>/<name>. */

export const CHECKPOINT_KINDS = ['weights', 'sampler_weights'] as const;
export type CheckpointKind = (typeof CHECKPOINT_KINDS)[number];

export interface CheckpointPath {
  readonly run: string;
  readonly kind: CheckpointKind;
  readonly name: string;
}

export const checkpointPath = ({ run, kind, name }: CheckpointPath): string => `tinker://${run}/${kind}/${name}`;

/** Null for everything else. */
export function parseCheckpointPath(path: string): CheckpointPath | null {
  const match = /^tinker:\/\/([^/]+)\/(weights|sampler_weights)\/([^/]+)$/.exec(path);
  return match === null ? null : { run: match[1]!, kind: match[2] as CheckpointKind, name: match[3]! };
}
