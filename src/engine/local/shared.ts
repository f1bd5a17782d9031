/** What the policies and training clients of one local engine share. */
import type { Usage } from '../../engine.ts';
import type { Blobs } from '../../store.ts';
import type { Layout, ModelConfig } from './qwen3.ts';
import type { WorkerThread } from './worker-thread.ts';

export interface Shared {
  readonly config: ModelConfig;
  readonly layout: Layout;
  readonly threads: readonly WorkerThread[];
  readonly blobs: Blobs;
  readonly usage: { -readonly [K in keyof Usage]: Usage[K] };
}

/** A copy that worker threads can read. */
export function shareable(values: Float32Array): SharedArrayBuffer {
  const buffer = new SharedArrayBuffer(values.byteLength);
  new Float32Array(buffer).set(values);
  return buffer;
}
