/**
 * Health of a training run, read off its steps alone: no truth is consulted, so it may be watched live. A row per alarm; where a
 * figure has no natural limit it is compared with the first step of the same system and phase. What needs truth, agreement that
 * rises while labels do not get truer, is the audit's warning (method/agreement).
 */
import type { StepRecord } from '../record.ts';

interface Watch {
  readonly about: string;
  /** The alarm rings beyond it. */
  readonly limit: number;
  readonly beyond: 'above' | 'below';
  /** Null where the step does not have the figure. */
  readonly value: (step: StepRecord, first: StepRecord) => number | null;
  readonly advice: string;
}

const ratio = (now: number, first: number): number | null => (first > 0 && Number.isFinite(now) ? now / first : null);

export const ALARMS = {
  'idle-groups': {
    about: 'share of groups without variance: they teach nothing',
    limit: 0.9,
    beyond: 'above',
    value: ({ counts }) => (counts.groups === 0 ? null : counts.idleGroups / counts.groups),
    advice: 'questions are too easy or too hard: more responses a question, another hop mix, or a lower solver rate',
  },
  entropy: {
    about: 'entropy of the policy against its first step',
    limit: 0.2,
    beyond: 'below',
    value: ({ rollout }, first) => ratio(rollout.entropy, first.rollout.entropy),
    advice: 'the policy is nearly deterministic: lower its learning rate or stop earlier',
  },
  length: {
    about: 'tokens a trajectory against the first step',
    limit: 2,
    beyond: 'above',
    value: ({ rollout }, first) => ratio(rollout.tokens, first.rollout.tokens),
    advice: 'replies grow: look at rollouts, and try --loss-mean token',
  },
  'correct-likelihood': {
    about: 'log-probability a token of rewarded rollouts, minus that of the first step, in nats',
    limit: -0.5,
    beyond: 'below',
    value: ({ rollout }, first) =>
      rollout.correct == null || first.rollout.correct == null ? null : rollout.correct - first.rollout.correct,
    advice: 'right answers become less likely while they are rewarded: lower the learning rate',
  },
  malformed: {
    about: 'share of trajectories without a well-formed end',
    limit: 0.3,
    beyond: 'above',
    value: ({ counts }) => (counts.trajectories === 0 ? null : 1 - counts.formed / counts.trajectories),
    advice: 'look at "crossfold show RUN --rollouts"; raise --format-weight or lower the learning rate',
  },
  truncated: {
    about: 'share of trajectories that ran into a token limit',
    limit: 0.2,
    beyond: 'above',
    value: ({ rollout }) => rollout.truncated ?? null,
    advice: 'replies are cut: give more tokens a turn, or look for loops in the rollouts',
  },
  duplicates: {
    about: 'share of proposed questions that repeat another of the step',
    limit: 0.5,
    beyond: 'above',
    value: ({ phase, feedback }) =>
      phase !== 'proposer' || feedback.length === 0
        ? null
        : 1 - new Set(feedback.map(({ question }) => question)).size / feedback.length,
    advice: 'the proposer narrows to few questions: more sources, or a lower proposer rate',
  },
  'unread-verdicts': {
    about: 'share of the pairs asked about that the judge gave no readable verdict on: what hangs on them is left out',
    limit: 0.05,
    beyond: 'above',
    value: ({ judged = 0, unread }) => (judged === 0 || unread === undefined ? null : unread / judged),
    advice:
      'read the lines "unreadable/…" of judge/replies.jsonl in the folder of the run; steps that are there stay as they are, so begin anew with another --judge-model in another --run folder',
  },
  'sampler-gap': {
    about: 'mean log-probability of the sampler minus that of the trainer, in nats a token, without its sign',
    limit: 0.01,
    beyond: 'above',
    value: ({ update }) => Math.abs(update.klSamplerTrainer),
    advice: 'sampler and trainer disagree about the policy: run "crossfold doctor --engine"',
  },
} as const satisfies Record<string, Watch>;

export type AlarmName = keyof typeof ALARMS;
export const ALARM_NAMES = Object.keys(ALARMS) as AlarmName[];

export interface Alarm {
  readonly name: AlarmName;
  readonly value: number;
}

/** Alarms that ring at `step`; `first` is the first step of its system and phase. */
export const alarmsAt = (step: StepRecord, first: StepRecord): Alarm[] =>
  ALARM_NAMES.flatMap((name) => {
    const { limit, beyond, value }: Watch = ALARMS[name];
    const found = value(step, first);
    const rings = found !== null && (beyond === 'above' ? found > limit : found < limit);
    return rings ? [{ name, value: found }] : [];
  });

/** The stretch of steps that an alarm's first step is looked for in. */
export const stretchOf = ({ system, phase, auxiliary }: StepRecord): string => `${system} ${phase} ${auxiliary ?? ''}`;

export interface AlarmFinding extends Alarm {
  /** Where it rang first. */
  readonly key: string;
  readonly system: string;
  readonly phase: StepRecord['phase'];
  /** Steps at which it rang. */
  readonly times: number;
}

/** Each alarm of each system and phase once, in the order in which they rang first. */
export function healthOf(steps: readonly { readonly key: string; readonly record: StepRecord }[]): AlarmFinding[] {
  const firsts = new Map<string, StepRecord>();
  const found = new Map<string, AlarmFinding>();
  for (const { key, record } of steps) {
    const stretch = stretchOf(record);
    const first = firsts.get(stretch) ?? record;
    firsts.set(stretch, first);
    for (const alarm of alarmsAt(record, first)) {
      const id = `${stretch} ${alarm.name}`;
      const known = found.get(id);
      const { system, phase } = record;
      found.set(
        id,
        known === undefined ? { ...alarm, key, system, phase, times: 1 } : { ...known, times: known.times + 1 },
      );
    }
  }
  return [...found.values()];
}
