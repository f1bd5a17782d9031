/**
 * Engine contract: the Tinker verbs. Token ids in, token ids and log-probabilities out.
 * Implementations live in engine/. Nothing here knows about text, roles or rewards.
 */
import type { Piece } from './types.ts';

export interface SampleRequest {
  /** Complete prompt, token ids. */
  readonly prompt: readonly number[];
  readonly maxTokens: number;
  /** 0 is greedy. */
  readonly temperature: number;
  readonly topP: number;
  /** Only this many of the most likely tokens can be drawn; absent is all. */
  readonly topK?: number;
  /** Sampling stops after one of these ids; it is included in the completion. */
  readonly stop: readonly number[];
  /** Key of the random stream of this request: same key, policy and prompt give the same tokens. */
  readonly key: string;
}

export interface Completion {
  readonly tokens: readonly number[];
  /** Log-probability of each token under temperature 1 and no top-p cut, in nats. */
  readonly logprobs: readonly number[];
  readonly finish: 'stop' | 'length';
  /** The stop string that ended it, where an engine that matches text removed it from the tokens. */
  readonly stopMatched?: string | null;
  /** Set when the request failed and retries did not cure it: no answer, and never a wrong one. */
  readonly error?: string;
  /** What the server counted for this request, where it counts in tokens of its own. */
  readonly usage?: { readonly prompt: number; readonly completion: number };
}

/**
 * A batch of conversations that grow turn by turn. An engine may keep what it computed for a prompt and reuse it when a
 * later prompt starts with it. Scoped to one batch so that a resumed run recomputes exactly what an unbroken one did.
 */
export interface SamplingSession {
  /** `lane[i]` is the index of the conversation that `requests[i]` belongs to; results are in request order. */
  sample(requests: readonly SampleRequest[], lane: readonly number[]): Promise<readonly Completion[]>;
  /** What the batch has cost so far, where that is not every prompt in full and every token of the completions. */
  usage?(): Pick<Usage, 'sampled' | 'prefilled'>;
  close(): Promise<void>;
}

/** A frozen set of weights, addressed by content. */
export interface Policy {
  readonly id: string;
  /** `size` is the number of conversations of the batch. */
  open(size: number): SamplingSession;
}

/**
 * One training sequence of T+1 tokens: position t predicts tokens[t + 1]. All arrays below have length T.
 * cross_entropy uses `weights`; the other losses use `advantages` and `logprobs` (0 advantage = masked).
 */
export interface Datum {
  readonly tokens: readonly number[];
  /** What position t predicts where that is not tokens[t + 1]. */
  readonly targets?: readonly number[];
  readonly weights?: readonly number[];
  readonly advantages?: readonly number[];
  readonly logprobs?: readonly number[];
}

/**
 * Losses are sums over tokens (the caller folds any normalisation into weights or advantages):
 * cross_entropy -Σ w·logp; importance_sampling -Σ exp(logp - old)·A; ppo -Σ min(ratio·A, clip(ratio)·A);
 * cispo -Σ sg(clip(ratio))·logp·A, sg: no gradient goes through it.
 */
export type Loss = 'cross_entropy' | 'importance_sampling' | 'ppo' | 'cispo';

/** Bounds of the ratio. Those of ppo are .8 and 1.2 where nothing is said, those of cispo 0 and 4. */
export interface Clip {
  readonly low: number;
  readonly high: number;
}

export interface LossOptions {
  readonly clip?: Clip;
  /** Log-probabilities of all positions, not only of those with a weight or an advantage. */
  readonly everywhere?: boolean;
}

export interface LossOutput {
  readonly loss: number;
  /** Per datum, log-probability of each target under the current weights, length T; 0 may stand where nothing is scored. */
  readonly logprobs: readonly (readonly number[])[];
}

export interface OptimSettings {
  readonly learningRate: number;
  readonly beta1: number;
  readonly beta2: number;
  readonly eps: number;
  readonly weightDecay: number;
  /** Global gradient norm is clipped to this; 0 is off. */
  readonly gradClip: number;
  /** Matrices follow Muon (orthogonalised momentum) at this rate instead of AdamW; absent is AdamW everywhere. */
  readonly muonRate?: number;
}

/** Frozen training state: weights plus, where it has one, the optimizer's. Both are content addresses. */
export interface StateRef {
  readonly policy: string;
  readonly optimizer: string | null;
}

export interface TrainingClient {
  /** Accumulates gradients. */
  forwardBackward(batch: readonly Datum[], loss: Loss, options?: LossOptions): Promise<LossOutput>;
  /** Loss and log-probabilities of all positions alone. */
  forward(batch: readonly Datum[], loss: Loss, options?: LossOptions): Promise<LossOutput>;
  /** Applies and clears the gradients; returns the global norm before clipping. */
  optimStep(settings: OptimSettings): Promise<{ readonly gradNorm: number }>;
  /** forwardBackward and optimStep at once, where an engine gains by having both before either is done. */
  update?(
    batch: readonly Datum[],
    loss: Loss,
    settings: OptimSettings,
  ): Promise<{ readonly out: LossOutput; readonly gradNorm: number }>;
  /** Freezes the current weights as a policy that can be sampled. */
  snapshot(): Promise<Policy>;
  /** Writes weights and optimizer state; equal states give equal references. */
  save(): Promise<StateRef>;
  load(state: StateRef): Promise<void>;
  close(): Promise<void>;
}

/** Token ids and text. Decoding is for people, parsers and retrievers; it is never encoded again. */
export interface Tokenizer {
  readonly vocabSize: number;
  encode(pieces: readonly Piece[]): number[];
  /** Control tokens appear as their literal text. */
  decode(ids: readonly number[]): string;
  /** ends[i] = number of characters of decode(ids) that tokens 0..i account for. */
  ends(ids: readonly number[]): number[];
  /** Id of a control token. Throws when the vocabulary lacks it. */
  tag(name: string): number;
}

export interface Engine {
  /** Names engine, version and settings that may change results. */
  readonly fingerprint: string;
  readonly tokenizer: Tokenizer;
  /** The base policy's state (weights of the checkpoint directory, no optimizer state). */
  readonly base: StateRef;
  /** Trained parameters of the policy; null when the engine does not say. */
  readonly parameters: number | null;
  /** Longest sequence (prompt + completion) in tokens. */
  readonly contextLength: number;
  policy(id: string): Promise<Policy>;
  train(state: StateRef): Promise<TrainingClient>;
  /** Frozen weights, or an optimizer's state, that nothing refers to any more; of an engine that keeps them outside the run's blobs. */
  forget?(id: string): Promise<void>;
  /** Work done since the engine was opened, in tokens. */
  usage(): Usage;
  /** Milliseconds with work under way since the engine was opened; the mean over its workers, where it has some of its own. */
  busy?(): number;
  close(): Promise<void>;
}

export interface Usage {
  readonly sampled: number;
  readonly prefilled: number;
  readonly trained: number;
}
