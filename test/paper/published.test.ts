/** Numbers that the papers print, typed in by hand (method.md sections 1, 4 and 5). */
import { describe, expect, it } from 'vitest';
import { ESTIMATORS, rolloutsPerPrompt } from '../../src/method/advantage.ts';
import { identityGap } from '../../src/method/agreement.ts';
import { difficulty } from '../../src/method/difficulty.ts';
import { auxiliaryUpdates, FEEDBACK_PLANS } from '../../src/method/feedback.ts';
import { LABEL_RULES } from '../../src/method/label.ts';
import { readHopMix, SCHEDULES, type Schedule } from '../../src/method/schedule.ts';

const auditedSteps = (s: Schedule): number => s.proposerSteps + s.solverSteps;
const answered = (k: number, n: number) => Array.from({ length: n }, (_, j) => j < k);

describe('CrossFit, final round', () => {
  //  T_P   T_S   A     F     L     J/E
  const table: [string, number, number, number, number, number, number][] = [
    ['4B dr-zero', 0.747, 0.669, 0.71, 0.061, 0.02, 0.859],
    ['4B msv', 0.747, 0.708, 0.745, 0.057, 0.02, 0.86],
    ['4B crossfit', 0.819, 0.686, 0.679, 0.03, 0.038, 0.86],
    ['4B msv+crossfit', 0.843, 0.727, 0.708, 0.02, 0.038, 0.858],
    ['9B dr-zero', 0.737, 0.689, 0.752, 0.088, 0.025, 0.859],
    ['9B msv', 0.77, 0.727, 0.788, 0.072, 0.011, 0.853],
    ['9B crossfit', 0.851, 0.712, 0.709, 0.037, 0.041, 0.857],
    ['9B msv+crossfit', 0.878, 0.754, 0.732, 0.017, 0.039, 0.861],
  ];
  it.each(table)('%s: A − T_S = F − L to rounding', (_, TP, TS, A, F, L, coverage) => {
    // Four figures rounded to .001 differ by at most 4 × .0005.
    expect(Math.abs(identityGap({ A, TS, F, L }))).toBeLessThan(0.002 + 1e-9);
    // C = A − F leaves D = T_P − C and N = 1 − C − F − L − D; none may be negative.
    expect(TP - (A - F)).toBeGreaterThan(0);
    expect(1 - A - L - (TP - (A - F))).toBeGreaterThan(0);
    expect(coverage).toBeGreaterThan(0.85);
  });
});

describe('Dr. Zero', () => {
  it('pays 0, 1, .75, .5, .25, 0 for k = 0..5 of 5', () => {
    expect([0, 1, 2, 3, 4, 5].map((k) => difficulty('linear', answered(k, 5)))).toEqual([0, 1, 0.75, 0.5, 0.25, 0]);
  });
  it('parabolic pays 0, .64, .96, .96, .64, 0', () => {
    const pay = [0, 1, 2, 3, 4, 5].map((k) => difficulty('parabolic', answered(k, 5)));
    expect(pay.map((x) => Number(x.toFixed(12)))).toEqual([0, 0.64, 0.96, 0.96, 0.64, 0]);
  });
  it('HRPO costs 5 solver rollouts a prompt, GRPO 16', () => {
    expect(rolloutsPerPrompt(ESTIMATORS.hrpo)).toBe(5);
    expect(rolloutsPerPrompt(ESTIMATORS.global)).toBe(5);
    expect(rolloutsPerPrompt(ESTIMATORS.grpo)).toBe(16);
  });
  it('gives 60 % of the prompts to 2–4 hops', () => {
    const mix = readHopMix('4:3:2:1');
    expect((mix[1] + mix[2] + mix[3]) / (mix[0] + mix[1] + mix[2] + mix[3])).toBeCloseTo(0.6, 12);
  });
  it('takes 100 steps a round as released', () => {
    expect(auditedSteps(SCHEDULES['dr-zero'])).toBe(100);
  });
});

describe('CrossFit schedule', () => {
  const { paper } = SCHEDULES;
  it('audits 43 steps a round and 129 in all', () => {
    expect(auditedSteps(paper)).toBe(43);
    expect(paper.rounds * auditedSteps(paper)).toBe(129);
  });
  it('spends 1,600 questions on 25 solver steps of 64', () => {
    expect(paper.admitted / paper.solverSteps).toBe(64);
    expect(paper.questions).toBe(64);
  });
  it('gives each auxiliary 25 updates, 13 + 12 on half budget, none when coupled', () => {
    expect(auxiliaryUpdates(FEEDBACK_PLANS.crossfit, 25)).toEqual([25, 25]);
    expect(auxiliaryUpdates(FEEDBACK_PLANS['half-budget'], 25)).toEqual([13, 12]);
    expect(auxiliaryUpdates(FEEDBACK_PLANS.coupled, 25)).toEqual([0, 0]);
  });
  it('MSV costs 6 generations a candidate', () => {
    expect(LABEL_RULES.msv.generations).toBe(6);
    expect(LABEL_RULES.draft.generations).toBe(0);
  });
});
