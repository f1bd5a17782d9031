/**
 * Opens ONNX Runtime: the native binding where its binary is present, else the WebAssembly build (3-5 times slower).
 * Sessions are single-threaded: parallelism comes from workers, and a session that spins would starve them.
 */
import type { InferenceSession, Tensor, TypedTensor } from 'onnxruntime-node';
import { InfraError, messageOf } from '../../util/error.ts';

export type Ort = typeof import('onnxruntime-node');
export type Session = InferenceSession;
export type { Tensor, TypedTensor };

export interface Runtime {
  readonly kind: 'native' | 'wasm';
  readonly ort: Ort;
  open(model: Uint8Array): Promise<Session>;
}

/** `prefer` 'wasm' skips the native binding (tests, doctor). */
export async function openRuntime(prefer: 'native' | 'wasm' = 'native'): Promise<Runtime> {
  const failures: string[] = [];
  for (const kind of prefer === 'native' ? (['native', 'wasm'] as const) : (['wasm'] as const)) {
    try {
      const ort = kind === 'native' ? await native() : await wasm();
      return { kind, ort, open: (model) => ort.InferenceSession.create(model, options(kind)) };
    } catch (error) {
      failures.push(`${kind}: ${messageOf(error)}`);
    }
  }
  throw new InfraError(
    `ONNX Runtime could not be opened (${failures.join('; ')}). Run "npm ci" again, then "crossfold doctor".`,
  );
}

export interface SessionCache<K> {
  /** The session of `key`; `model` builds its graph the first time. */
  get(key: K, model: () => Uint8Array): Promise<Session>;
  close(): Promise<void>;
}

export function sessionCache<K>(runtime: Runtime): SessionCache<K> {
  const sessions = new Map<K, Promise<Session>>();
  return {
    get(key, model) {
      const session = sessions.get(key) ?? runtime.open(model());
      sessions.set(key, session);
      return session;
    },
    async close() {
      for (const session of sessions.values()) await (await session).release();
      sessions.clear();
    },
  };
}

async function native(): Promise<Ort> {
  const module = await import('onnxruntime-node');
  return (module as { default?: Ort }).default ?? module;
}

async function wasm(): Promise<Ort> {
  const module = (await import('onnxruntime-web')) as unknown as Ort & { default?: Ort };
  const ort = module.default ?? module;
  ort.env.wasm.numThreads = 1;
  return ort;
}

function options(kind: 'native' | 'wasm'): InferenceSession.SessionOptions {
  return {
    executionProviders: [kind === 'native' ? 'cpu' : 'wasm'],
    intraOpNumThreads: 1,
    interOpNumThreads: 1,
    executionMode: 'sequential',
    graphOptimizationLevel: 'all',
    logSeverityLevel: 3,
  };
}
