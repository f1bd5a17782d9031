/** Sessions: who they are, and what happens to the silent ones. */
import { randomUUID } from 'node:crypto';
import { dropSampler } from './samplers.ts';
import type { Session, State } from './state.ts';
import { dropModel } from './training.ts';

export function createSession(state: State): object {
  const id = randomUUID();
  state.sessions.set(id, { id, models: new Map(), samplers: new Map(), lastSeen: state.now() });
  return {
    type: 'create_session',
    session_id: id,
    info_message: 'This server trains all weights of a model; a LoRA rank is remembered and changes nothing.',
  };
}

/** Unloads what belongs to sessions that were silent for too long. */
export async function endSilent(state: State): Promise<void> {
  const { sessionTimeoutMs } = state.settings;
  if (sessionTimeoutMs === 0) return;
  const silent = [...state.sessions.values()].filter(({ lastSeen }) => state.now() - lastSeen > sessionTimeoutMs);
  for (const session of silent) await endSession(state, session);
}

async function endSession(state: State, session: Session): Promise<void> {
  state.sessions.delete(session.id);
  const models = [...state.models.values()].filter((model) => model.session === session);
  const samplers = [...state.samplers.values()].filter((sampler) => sampler.session === session);
  await Promise.all(models.map((model) => dropModel(state, model)));
  for (const sampler of samplers) await dropSampler(state, sampler);
}
