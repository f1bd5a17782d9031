/** The session that models and samplers belong to, made when it is first needed and again after the server has lost it. */
import { InfraError } from '../../../util/error.ts';
import { type Heartbeat, startHeartbeat } from './heartbeat.ts';
import type { Transport } from './transport.ts';

export interface Session {
  readonly id: string;
  /** The next model_seq_id. */
  nextModel(): number;
  /** The next sampling_session_seq_id. */
  nextSampler(): number;
}

export interface Sessions {
  /** The one that is open. @throws InfraError */
  current(): Promise<Session>;
  /** `session` is gone: the next `current` makes another one. */
  forget(session: Session): void;
  close(): Promise<void>;
}

/** What we say we are: the wire as of that version of its SDK. */
const SDK = '0.25.0';

export function openSessions(transport: Transport, warn: (text: string) => void): Sessions {
  let open: Promise<Session> | null = null;
  const beats = new Map<string, Heartbeat>();
  const gone = new Set<string>();

  const create = async (): Promise<Session> => {
    const asked = { tags: ['crossfold'], user_metadata: null, sdk_version: SDK, type: 'create_session' };
    const { session_id: id, error_message: refused } = await transport.ask('create_session', asked, 'create_session');
    if (typeof id !== 'string' || id === '')
      throw new InfraError(`create_session: the server gave no session_id${refused ? ` (${String(refused)})` : ''}`);
    const { url, apiKey, times } = transport;
    beats.set(
      id,
      startHeartbeat({ url, apiKey, session: id, everyMs: times.heartbeatMs }, (what) => {
        if (what === 'gone') gone.add(id);
        else warn('the server has heard no heartbeat for two minutes and may end the session');
      }),
    );
    let [models, samplers] = [0, 0];
    return { id, nextModel: () => models++, nextSampler: () => samplers++ };
  };
  const forget = (id: string): void => {
    open = null;
    void beats.get(id)?.stop();
    beats.delete(id);
  };

  return {
    async current() {
      if (open !== null) {
        const { id } = await open;
        if (gone.has(id)) forget(id);
      }
      open ??= create().catch((error) => {
        open = null;
        throw error;
      });
      return open;
    },
    forget({ id }) {
      if (beats.has(id)) forget(id);
    },
    async close() {
      await Promise.all([...beats.values()].map((beat) => beat.stop()));
    },
  };
}
