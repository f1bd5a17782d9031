/** Named checkpoints of models: taking a name, keeping blobs, removing what nothing names any more. */
import { randomUUID } from 'node:crypto';
import type { StateRef } from '../../../engine.ts';
import type { CheckpointKind, CheckpointPath } from '../wire/path.ts';
import { checkpointPath } from '../wire/path.ts';
import { isExpired } from './checkpoints.ts';
import { Refusal } from './refusal.ts';
import type { Model, State } from './state.ts';

/** @throws Refusal 409 when the name is taken, by a checkpoint or by a save under way. */
export function freePath(
  state: State,
  model: Model,
  kind: CheckpointKind,
  asked: string | null,
  overwrite: boolean,
): CheckpointPath {
  const path = { run: model.id, kind, name: asked ?? randomUUID() };
  const text = checkpointPath(path);
  if (model.naming.has(text) || (!overwrite && state.checkpoints.find(path) !== undefined))
    throw new Refusal(409, `${text} exists; give another name${kind === 'weights' ? ', or overwrite' : ''}`);
  return path;
}

export async function saveCheckpoint(
  state: State,
  path: CheckpointPath,
  ref: StateRef,
  asked: {
    readonly ttl_seconds?: number | null | undefined;
    readonly user_metadata?: Readonly<Record<string, string>> | null | undefined;
  },
): Promise<void> {
  const { blobs } = state.served;
  const before = state.checkpoints.find(path);
  const sizes = [await blobs.keep(ref.policy), ref.optimizer === null ? 0 : await blobs.keep(ref.optimizer)];
  const now = state.now();
  await state.checkpoints.put({
    ...path,
    policy: ref.policy,
    optimizer: ref.optimizer,
    time: new Date(now).toISOString(),
    bytes: sizes[0]! + sizes[1]!,
    expires: asked.ttl_seconds == null ? null : new Date(now + asked.ttl_seconds * 1000).toISOString(),
    metadata: asked.user_metadata ?? null,
  });
  if (before !== undefined) await dropUnnamed(state, before);
}

/** @throws Refusal 404 */
export async function removeCheckpoint(state: State, path: CheckpointPath): Promise<void> {
  const found = state.checkpoints.find(path);
  if (found === undefined) throw new Refusal(404, `no checkpoint ${checkpointPath(path)}`);
  await state.checkpoints.remove(path);
  await dropUnnamed(state, found);
}

async function dropUnnamed(state: State, { policy, optimizer }: StateRef): Promise<void> {
  const named = new Set(state.checkpoints.list().flatMap((c) => [c.policy, c.optimizer]));
  const { blobs, engine } = state.served;
  const used = new Set([engine.base.policy, ...[...state.samplers.values()].map((sampler) => sampler.policy)]);
  for (const id of [policy, optimizer]) {
    if (id !== null && !named.has(id)) await blobs.release(id, used.has(id));
  }
}

export async function removeExpired(state: State): Promise<void> {
  for (const checkpoint of state.checkpoints.list())
    if (isExpired(checkpoint, state.now())) await removeCheckpoint(state, checkpoint);
}
