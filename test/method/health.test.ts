import { describe, expect, it } from 'vitest';
import { type AlarmName, alarmsAt, healthOf } from '../../src/method/health.ts';
import type { StepRecord } from '../../src/record.ts';

const plain: StepRecord = {
  kind: 'step',
  phase: 'solver',
  system: 'dr-zero',
  round: 1,
  step: 0,
  auxiliary: null,
  feedback: [],
  reward: { mean: 0.5, parts: {} },
  agreement: 0.5,
  counts: { trajectories: 100, formed: 95, failed: 0, idleGroups: 10, groups: 20 },
  hops: {},
  rollout: { searches: 1, tokens: 30, entropy: 0.5, truncated: 0.01, correct: -0.2 },
  update: { loss: 0, gradNorm: 1, learningRate: 1e-3, klSamplerTrainer: 1e-5, trajectories: 100, trained: 80 },
  verification: null,
  usage: { sampled: 0, prefilled: 0, trained: 0 },
  responses: 5,
  rollouts: '',
  before: { policy: 'a', optimizer: null },
  after: { policy: 'b', optimizer: null },
};
const asked = (question: string) => ({
  ...{ question, source: 's', hops: 1 as const, label: 'x', grader: 'g', responses: ['x'], matches: [true] },
});

describe('alarms', () => {
  it('are quiet on a healthy step', () => {
    expect(alarmsAt(plain, plain)).toEqual([]);
  });

  it.each<[AlarmName, Partial<StepRecord>, number]>([
    ['idle-groups', { counts: { ...plain.counts, idleGroups: 19 } }, 0.95],
    ['entropy', { rollout: { ...plain.rollout, entropy: 0.09 } }, 0.18],
    ['length', { rollout: { ...plain.rollout, tokens: 75 } }, 2.5],
    ['correct-likelihood', { rollout: { ...plain.rollout, correct: -0.8 } }, -0.6],
    ['malformed', { counts: { ...plain.counts, formed: 60 } }, 0.4],
    ['truncated', { rollout: { ...plain.rollout, truncated: 0.25 } }, 0.25],
    ['duplicates', { phase: 'proposer', feedback: ['q', 'q', 'q', 'q', 'r'].map(asked) }, 0.6],
    ['unread-verdicts', { judged: 50, unread: 4 }, 0.08],
    ['sampler-gap', { update: { ...plain.update, klSamplerTrainer: -0.02 } }, 0.02],
  ])('%s rings alone', (name, over, value) => {
    const alarms = alarmsAt({ ...plain, ...over }, plain);
    expect(alarms.map((alarm) => alarm.name)).toEqual([name]);
    expect(alarms[0]!.value).toBeCloseTo(value, 12);
  });

  it('do not ring at their limit, nor where a journal lacks the figure', () => {
    expect(alarmsAt({ ...plain, counts: { ...plain.counts, idleGroups: 18 } }, plain)).toEqual([]);
    expect(alarmsAt({ ...plain, judged: 0, unread: 0 }, plain)).toEqual([]);
    expect(alarmsAt({ ...plain, judged: 40, unread: 2 }, plain)).toEqual([]);
    expect(alarmsAt({ ...plain, judged: 40 }, plain)).toEqual([]);
    const { truncated: _, correct: __, ...old } = plain.rollout;
    expect(alarmsAt({ ...plain, rollout: old }, { ...plain, rollout: old })).toEqual([]);
  });

  it('are told once a system and phase, against the first step of their own stretch', () => {
    const low = { ...plain.rollout, entropy: 0.05 };
    const steps = [
      { key: 'round1/solver/000', record: plain },
      { key: 'round1/solver/001', record: { ...plain, rollout: low } },
      { key: 'round1/solver/002', record: { ...plain, rollout: low } },
      // An auxiliary that starts low is compared with itself.
      {
        key: 'x/round1/auxiliary0/000',
        record: { ...plain, phase: 'auxiliary' as const, auxiliary: 0 as const, rollout: low },
      },
    ];
    expect(healthOf(steps)).toMatchObject([{ name: 'entropy', key: 'round1/solver/001', times: 2, phase: 'solver' }]);
  });
});
