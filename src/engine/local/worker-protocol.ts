/** Messages between the engine and its worker threads. Parameter vectors are shared memory; a worker copies what it runs. */
import type { Completion, Datum, OptimSettings, SampleRequest, Usage } from '../../engine.ts';
import type { ModelConfig } from './qwen3.ts';
import type { MicroBatch, Objective } from './trainer.ts';

export interface WorkerData {
  readonly config: ModelConfig;
  readonly prefer: 'native' | 'wasm';
}

export interface SharedState {
  readonly theta: SharedArrayBuffer;
  readonly m: SharedArrayBuffer;
  readonly v: SharedArrayBuffer;
}

export type WorkerRequest =
  | { readonly op: 'ready' }
  | {
      readonly op: 'accumulate';
      readonly theta: SharedArrayBuffer;
      /** Receives the sum over the micro-batches; null where no gradients are wanted. */
      readonly grad: SharedArrayBuffer | null;
      readonly batch: readonly Datum[];
      readonly micros: readonly MicroBatch[];
      readonly objective: Objective;
    }
  | {
      readonly op: 'step';
      readonly state: SharedState;
      /** Summed in this order. */
      readonly grads: readonly SharedArrayBuffer[];
      readonly step: number;
      readonly settings: OptimSettings;
    }
  | { readonly op: 'open'; readonly batch: number; readonly theta: SharedArrayBuffer }
  | {
      readonly op: 'sample';
      readonly batch: number;
      readonly requests: readonly SampleRequest[];
      readonly lanes: readonly number[];
    }
  | { readonly op: 'close'; readonly batch: number };

/** Per micro-batch, in order: log-probabilities of its rows. */
export interface Accumulated {
  readonly loss: number;
  readonly logprobs: readonly (readonly Float32Array[])[];
}

export interface WorkerResults {
  readonly ready: { readonly runtime: 'native' | 'wasm'; readonly version: string };
  readonly accumulate: Accumulated;
  readonly step: { readonly gradNorm: number };
  readonly open: null;
  readonly sample: {
    readonly completions: readonly Completion[];
    readonly usage: Pick<Usage, 'sampled' | 'prefilled'>;
  };
  readonly close: null;
}

export type WorkerReply =
  | { readonly id: number; readonly ok: true; readonly value: unknown }
  /** `user`: a UserError's message; else a stack. */
  | { readonly id: number; readonly ok: false; readonly error: string; readonly user: boolean };
