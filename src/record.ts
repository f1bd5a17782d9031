/**
 * Record contract: what a run of `evolve` or `compare` writes to its journal, and under which keys. Reports, audit and
 * dashboard are computed from these alone. Keys, in the order of the loop (three-digit steps):
 *
 *   setup                               SetupRecord
 *   base/evaluate                       EvaluationRecord   the base policy as solver
 *   round1/proposer/000 …               StepRecord         round 1 is shared by all systems of a label rule
 *   round1/write                        WriteRecord
 *   round1/solver/000 …                 StepRecord
 *   round1/evaluate                     EvaluationRecord
 *   msv/round1/…                        the same for systems whose labels are verified
 *   SYSTEM/round1/auxiliary0/000 …      StepRecord         only under plans with auxiliaries; fitted on the round's bank
 *   SYSTEM/round2/proposer/000 …        StepRecord
 *   SYSTEM/round2/write, solver/…, evaluate, auxiliary0/…, auxiliary1/…
 *   done                                DoneRecord
 *
 * Rollouts of a step are one blob: gzipped JSONL of RolloutRecord.
 */
import type { StateRef, Usage } from './engine.ts';
import type { Asked } from './matcher.ts';
import type { Feedback, Hops, Rollout } from './types.ts';

export interface SetupRecord {
  readonly kind: 'setup';
  readonly systems: readonly string[];
  readonly rounds: number;
  readonly task: string;
  readonly engine: string;
  readonly base: StateRef;
  readonly sources: number;
  readonly passages: number;
  /** Gold questions of the downstream exam. */
  readonly gold: number;
  readonly parameters: number | null;
}

/** What work with a matcher asked a judge. `judged` is absent where it asks nobody, `unread` in older journals too. */
export type JudgeRequests = Partial<Asked>;

export interface StepRecord extends JudgeRequests {
  readonly kind: 'step';
  readonly phase: 'proposer' | 'solver' | 'auxiliary';
  /** In round 1 the shared part: 'shared', or 'shared+msv' for verified labels. */
  readonly system: string;
  readonly round: number;
  readonly step: number;
  readonly auxiliary: 0 | 1 | null;
  /** What the audit reads: one entry per question that was graded. */
  readonly feedback: readonly Feedback[];
  /** Mean reward over the step's trajectories, and the mean of each part (proposer: thinking, tools, …, format, difficulty). */
  readonly reward: { readonly mean: number; readonly parts: Readonly<Record<string, number>> };
  /** Share of responses that match the label; null when nothing was graded. */
  readonly agreement: number | null;
  readonly counts: {
    /** Trajectories of the trained role. */
    readonly trajectories: number;
    /** Proposals that passed the gate (proposer), or well-formed answers (solver). */
    readonly formed: number;
    /** Lost to an outage; in no group and no reward. */
    readonly failed: number;
    /** Groups that taught nothing. */
    readonly idleGroups: number;
    readonly groups: number;
  };
  /** Prompts (proposer) or questions (solver) per hop count. */
  readonly hops: Readonly<Record<string, number>>;
  /** Hop counts that self-written questions really have → questions, where it can be read off them; "unread" is the rest. */
  readonly written?: Readonly<Record<string, number>>;
  readonly rollout: {
    /** Means over the trained role's trajectories. */
    readonly searches: number;
    readonly tokens: number;
    /** Mean of -log p of sampled tokens, in nats: an estimate of the policy's entropy per token. */
    readonly entropy: number;
    /** Share that ended at a token limit. Absent in older journals. */
    readonly truncated?: number;
    /** Mean of log p of the tokens of rewarded solver rollouts, in nats; null when there is none. Absent for proposers. */
    readonly correct?: number | null;
  };
  readonly update: UpdateRecord;
  /** Null under a label rule that asks nothing, and in solver steps. Its usage is part of `usage`. */
  readonly verification: VerificationRecord | null;
  readonly usage: Usage;
  /** Feedback rollouts spent per proposer prompt (proposer steps), responses per question (solver steps). */
  readonly responses: number;
  /** Blob id. */
  readonly rollouts: string;
  readonly before: StateRef;
  readonly after: StateRef;
}

/** What the label rule cost and decided (MSV, method.md section 3). */
export interface VerificationRecord {
  readonly candidates: number;
  readonly admitted: number;
  /** Admitted with another label than the draft. */
  readonly changed: number;
  /** Reason → count. */
  readonly refused: Readonly<Record<string, number>>;
  readonly generations: number;
  readonly searches: number;
  readonly usage: Usage;
}

export interface UpdateRecord {
  readonly loss: number;
  readonly gradNorm: number;
  readonly learningRate: number;
  /** Mean over scored tokens of log p(sampler) - log p(trainer), in nats. */
  readonly klSamplerTrainer: number;
  /** Trajectories with a scored token, and how many of them had an advantage other than 0. */
  readonly trajectories: number;
  readonly trained: number;
}

/** An admitted question. */
export interface BankItem {
  readonly id: string;
  readonly question: string;
  readonly label: string;
  /** Further accepted answers of a gold question. */
  readonly aliases?: readonly string[];
  readonly source: string;
  readonly hops: Hops;
}

export interface WriteRecord extends JudgeRequests {
  readonly kind: 'write';
  readonly system: string;
  readonly round: number;
  readonly bank: readonly BankItem[];
  readonly tried: number;
  /** Reason → count. */
  readonly refused: Readonly<Record<string, number>>;
  /** Null under a label rule that asks nothing. */
  readonly verification: VerificationRecord | null;
  readonly usage: Usage;
  readonly rollouts: string;
  readonly policy: string;
}

export interface EvaluationRecord {
  readonly kind: 'evaluation';
  /** 'base', a shared part (round 1) or the system's name. */
  readonly system: string;
  readonly round: number;
  readonly policy: string;
  /** Gold questions in exam order: hop count, exact match and cover match of the greedy answer. */
  readonly hops: readonly Hops[];
  readonly em: readonly boolean[];
  readonly coverEm: readonly boolean[];
  readonly searches: number;
  /** Rollouts that ended without an answer. */
  readonly unanswered: number;
  /** Lost to an outage: their entries are in `failed`, never counted as wrong. */
  readonly failed: readonly number[];
  readonly usage: Usage;
  readonly rollouts: string;
}

export interface DoneRecord {
  readonly kind: 'done';
}

export type RunRecord = SetupRecord | StepRecord | WriteRecord | EvaluationRecord | DoneRecord;

/** One line of a rollouts blob. */
export interface RolloutRecord {
  /** The verifier is the main solver answering for MSV: attempts 0–2 with the source at hand, 3–5 without. */
  readonly role: 'proposer' | 'solver' | 'verifier';
  /** What the rollout was about: source id for the proposer, else the question. */
  readonly about: string;
  readonly source: string;
  readonly hops: Hops;
  /** Index of the question in the step's feedback; null for proposals behind a shut gate. */
  readonly feedback: number | null;
  /** Index of the response in the group (solver), else 0. */
  readonly attempt: number;
  readonly reward: number | null;
  readonly advantage: number | null;
  readonly rollout: Rollout;
  /** Decoded turns, for people: prompt, reply and tool text in order. */
  readonly text: readonly { readonly kind: 'prompt' | 'reply' | 'search'; readonly text: string }[];
}
