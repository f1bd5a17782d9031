/** What one server holds, and what its parts share. */
import type { Engine, TrainingClient } from '../../../engine.ts';
import type { LoraConfig } from '../wire/messages.ts';
import type { openBatcher } from './batcher.ts';
import type { Checkpoints } from './checkpoints.ts';
import type { Futures } from './futures.ts';
import type { ModelLimits } from './losses.ts';
import { Refusal } from './refusal.ts';
import type { Scorer } from './scorer.ts';
import type { Sequence } from './sequence.ts';
import type { TinkerSettings } from './settings.ts';
import type { TieredBlobs } from './tiers.ts';

/** A served base model. */
export interface Served {
  readonly engine: Engine;
  readonly blobs: TieredBlobs;
  /** What requests call it. */
  readonly name: string;
  /** Where a client on this machine finds its tokenizer; null where there is none. */
  readonly tokenizerId: string | null;
  readonly limits: ModelLimits;
  /** Ids that end a completion where a request names no stops. */
  readonly eos: readonly number[];
}

export interface Session {
  readonly id: string;
  /** Answers by seq, so that a repeated request makes nothing twice. */
  readonly models: Map<number, { readonly hash: string; readonly requestId: string }>;
  readonly samplers: Map<number, { readonly hash: string; readonly samplerId: string }>;
  lastSeen: number;
}

export interface Model {
  readonly id: string;
  readonly session: Session;
  readonly lora: LoraConfig | null;
  readonly sequence: Sequence;
  /** Settles when the weights are there. */
  readonly training: Promise<TrainingClient>;
  /** The last request; the next one runs after it. */
  last: Promise<unknown>;
  /** Requests taken. */
  count: number;
  /** Paths that a save under way will take. */
  readonly naming: Set<string>;
}

export interface Sampler {
  readonly id: string;
  readonly session: Session;
  readonly policy: string;
  /** Checkpoint it was made from; null for the base model and for passing snapshots. */
  readonly path: string | null;
  /** Model whose passing snapshot it is. */
  readonly snapshotOf: string | null;
  readonly sequence: Map<number, { readonly hash: string; readonly requestId: string }>;
}

export interface State {
  readonly settings: TinkerSettings;
  readonly served: Served;
  readonly now: () => number;
  readonly futures: Futures;
  readonly checkpoints: Checkpoints;
  readonly scorer: Scorer;
  readonly sample: ReturnType<typeof openBatcher>;
  readonly sessions: Map<string, Session>;
  readonly models: Map<string, Model>;
  readonly samplers: Map<string, Sampler>;
}

const GONE = 'the server may have been restarted, or the session was silent for too long';

/** A session, whose owner has just been heard of. @throws Refusal 404 */
export function sessionOf({ sessions, now }: State, id: string): Session {
  const session = sessions.get(id);
  if (session === undefined) throw new Refusal(404, `no session "${id}"; ${GONE}: create another one`);
  session.lastSeen = now();
  return session;
}

export function modelOf({ models, now }: State, id: string): Model {
  const model = models.get(id);
  if (model === undefined)
    throw new Refusal(404, `no model "${id}"; ${GONE}: create another one and load its last checkpoint`);
  model.session.lastSeen = now();
  return model;
}

export function samplerOf({ samplers, now }: State, id: string): Sampler {
  const sampler = samplers.get(id);
  if (sampler === undefined) throw new Refusal(404, `no sampling session "${id}"; ${GONE}: create another one`);
  sampler.session.lastSeen = now();
  return sampler;
}

/** @throws Refusal 400 */
export function checkBase({ served }: State, name: string): void {
  if (name !== served.name) throw new Refusal(400, `base_model is "${name}"; this server has "${served.name}"`);
}
