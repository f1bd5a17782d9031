/** Sampling sessions: frozen weights of the base, of a checkpoint or of a passing snapshot, and what is asked of them. */
import { randomUUID } from 'node:crypto';
import type { z } from 'zod';
import type { sampleSchema, samplingSessionSchema } from '../wire/messages.ts';
import { parseCheckpointPath } from '../wire/path.ts';
import { Refusal } from './refusal.ts';
import { planSample, sampleResult } from './sampling.ts';
import { fingerprint } from './sequence.ts';
import { checkBase, type Sampler, type Session, type State, samplerOf, sessionOf } from './state.ts';

/** Passing snapshots of one model; older ones are dropped. */
const SNAPSHOTS = 16;
/** Repeats of a sampling request are recognised this far back. */
const REMEMBERED = 65_536;

/** The id of a sampling session to be. @throws Refusal 409 when the number was used otherwise. */
export function reserveSampler(session: Session, seq: number, payload: unknown): string {
  const hash = fingerprint(payload);
  const before = session.samplers.get(seq);
  if (before !== undefined && before.hash !== hash)
    throw new Refusal(409, `sampling_session_seq_id ${seq} was used for a request with another payload`);
  const samplerId = before?.samplerId ?? `${session.id}:sample:${seq}`;
  session.samplers.set(seq, { hash, samplerId });
  return samplerId;
}

export async function addSampler(state: State, sampler: Omit<Sampler, 'sequence'>): Promise<void> {
  state.samplers.set(sampler.id, { ...sampler, sequence: new Map() });
  if (sampler.snapshotOf === null) return;
  const snapshots = [...state.samplers.values()].filter((s) => s.snapshotOf === sampler.snapshotOf);
  for (const old of snapshots.slice(0, -SNAPSHOTS)) await dropSampler(state, old);
}

/** Its weights go too where nothing else has them. */
export async function dropSampler(state: State, sampler: Sampler): Promise<void> {
  state.samplers.delete(sampler.id);
  const { engine, blobs } = state.served;
  const used = [...state.samplers.values()].some((other) => other.policy === sampler.policy);
  if (!used && sampler.policy !== engine.base.policy) await blobs.drop(sampler.policy);
}

export async function createSampler(state: State, request: z.infer<typeof samplingSessionSchema>): Promise<string> {
  const session = sessionOf(state, request.session_id);
  const { policy, path } = weightsOf(state, request.base_model ?? null, request.model_path ?? null);
  const id = reserveSampler(session, request.sampling_session_seq_id, request);
  if (!state.samplers.has(id)) await addSampler(state, { id, session, policy, path, snapshotOf: null });
  return id;
}

/** @throws Refusal 400, 404 */
function weightsOf(state: State, base: string | null, path: string | null): { policy: string; path: string | null } {
  if (base !== null) checkBase(state, base);
  if (path === null) {
    if (base === null) throw new Refusal(400, 'needs base_model or model_path');
    return { policy: state.served.engine.base.policy, path: null };
  }
  const parsed = parseCheckpointPath(path);
  if (parsed === null) throw new Refusal(400, `model_path is "${path}"; expected tinker://RUN/sampler_weights/NAME`);
  const found = state.checkpoints.find(parsed);
  if (found === undefined) throw new Refusal(404, `no checkpoint ${path}`);
  const { basePolicy, base: name } = state.checkpoints.run(found.run)!;
  if (basePolicy !== state.served.engine.base.policy)
    throw new Refusal(400, `${path} belongs to another base model ("${name}") than this server's`);
  return { policy: found.policy, path };
}

export interface Submitted {
  readonly requestId: string;
  /** One per sample. */
  readonly sequenceIds: readonly string[];
}

export function submitSample(state: State, request: z.infer<typeof sampleSchema>): Submitted {
  const { limits, eos, engine } = state.served;
  const plan = planSample(request, { limits, eos, fallback: randomUUID() });
  const { policy, sampler } = sourceOf(state, request);
  const begin = (): string =>
    state.futures.add(async () => {
      const [completions, scores] = await Promise.all([
        state.sample(policy, plan.requests),
        plan.scored > 0 ? state.scorer.score(policy, plan.prompt) : null,
      ]);
      return sampleResult(plan, completions, scores, engine.tokenizer);
    });
  const requestId = sampler === null ? begin() : onceOf(sampler, request, begin);
  return { requestId, sequenceIds: plan.requests.map((_, i) => `${requestId}:${i}`) };
}

function sourceOf(
  state: State,
  { sampling_session_id, seq_id, base_model, model_path }: z.infer<typeof sampleSchema>,
): { policy: string; sampler: Sampler | null } {
  if (sampling_session_id == null)
    return { policy: weightsOf(state, base_model ?? null, model_path ?? null).policy, sampler: null };
  if (seq_id == null) throw new Refusal(400, 'sampling_session_id needs a seq_id');
  const sampler = samplerOf(state, sampling_session_id);
  return { policy: sampler.policy, sampler };
}

function onceOf({ sequence }: Sampler, request: z.infer<typeof sampleSchema>, begin: () => string): string {
  const seq = request.seq_id!;
  const hash = fingerprint(request);
  const before = sequence.get(seq);
  if (before !== undefined && before.hash !== hash)
    throw new Refusal(409, `seq_id ${seq} was used for a request with another payload`);
  if (before !== undefined) return before.requestId;
  const requestId = begin();
  sequence.set(seq, { hash, requestId });
  const [oldest] = sequence.keys();
  if (sequence.size > REMEMBERED) sequence.delete(oldest!);
  return requestId;
}
