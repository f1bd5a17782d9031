import { describe, expect, it } from 'vitest';
import { auditRun } from '../../src/recipe/audit.ts';
import { openReader } from '../../src/store/read.ts';
import { openRun } from '../../src/store/run.ts';
import { folder, spec } from '../store/folder.ts';
import { asked, fixtureAuditor, type Shape, type StepAt, writeRun } from './fixture.ts';

async function audited(differences: Partial<Shape> = {}) {
  const dir = folder();
  await writeRun(dir, { gold: 8, ...differences });
  const reader = await openReader(dir);
  return { report: await auditRun(reader, fixtureAuditor), reader };
}

/** Proposer step 0, proposer step 1, every solver step of the first round; crossfit's later rounds are all correct. */
function byHand({ system, phase, step }: StepAt) {
  if (system === 'crossfit') return [asked('s1', 1, 'CCCCC')];
  if (phase === 'proposer' && step === 0) return [asked('s1', 1, 'CCDDD'), asked('s2', 2, 'FFLNN')];
  if (phase === 'proposer') return [asked('s1', 1, 'CCCCC'), asked('s3', 2, 'UUUUU')];
  return [asked('s2', 2, 'FFFFN')];
}

describe('auditRun', () => {
  it('averages steps, not pairs, and keeps proposer and solver steps apart', async () => {
    const { report } = await audited({ feedback: byHand });
    const { scopes, byHops, shared } = report.rounds[0]!;
    expect(shared).toBe(true);
    // Proposer steps: F = (2/10 + 0)/2, T_P = (5/10 + 1)/2, A = (4/10 + 1)/2, J/E = (1 + 5/10)/2.
    expect(scopes.proposer.shares).toMatchObject({ F: 0.1, TP: 0.75, L: 0.05 });
    expect(scopes.proposer.shares!.A).toBeCloseTo(0.7, 12);
    expect(scopes.proposer.coverage).toBe(0.75);
    expect(scopes.solver.shares).toMatchObject({ C: 0, L: 0, TP: 0, TS: 0 });
    expect(scopes.solver.shares!.F).toBeCloseTo(0.8, 12);
    // All five scheduled steps: F = (.2 + 0 + 3 × .8)/5; pairs would give (2 + 12)/30.
    expect(scopes.scheduled.shares!.F).toBeCloseTo(0.52, 12);
    expect(scopes.scheduled).toMatchObject({ steps: 5, questions: 7, evaluated: 35, judged: 30 });
    // Steps without a question of the hop count are no part of its mean: one hop is in the two proposer steps only.
    expect(byHops[1]!.shares).toMatchObject({ C: 0.7, D: 0.3 });
    expect(byHops[1]!.coverage).toBe(1);
    expect(scopes.scheduled.intervals!.F.point).toBeCloseTo(0.52, 12);
    expect(scopes.scheduled.intervals!.excess.point).toBeCloseTo(
      scopes.scheduled.shares!.F - scopes.scheduled.shares!.L,
      12,
    );
  });

  it('shares round 1, counts its cost once, keeps outages out of the exam, and is plain JSON', async () => {
    const { report } = await audited({ gold: 40 });
    expect(report.rounds.map(({ system, round, shared }) => `${system} ${round} ${shared}`)).toEqual([
      'dr-zero 1 true',
      'dr-zero 2 false',
      'dr-zero 3 false',
      'crossfit 1 true',
      'crossfit 2 false',
      'crossfit 3 false',
    ]);
    expect(report.rounds[3]!.scopes).toEqual(report.rounds[0]!.scopes);
    expect(report.rounds[0]!.auxiliary).toBeNull();
    expect(report.rounds[3]!.auxiliary).toMatchObject({ steps: 4 });
    expect(report.cost.filter(({ round }) => round === 1).map(({ system, phase }) => `${system} ${phase}`)).toEqual([
      'shared proposer',
      'shared write',
      'shared solver',
      'shared evaluate',
      'crossfit auxiliary',
    ]);
    expect(report.cost.find(({ phase }) => phase === 'proposer')).toMatchObject({
      steps: 2,
      responses: 5,
      usage: { sampled: 2000, prefilled: 8000, trained: 1600 },
    });
    for (const { scopes } of report.rounds) {
      for (const { point, low, high } of Object.values(scopes.scheduled.intervals!)) {
        expect(low).toBeLessThanOrEqual(point);
        expect(high).toBeGreaterThanOrEqual(point);
      }
    }
    // Question 3, of four hops, was lost.
    expect([report.base!.all!.n, report.base!.byHops[4]!.n, report.base!.byHops[1]!.n]).toEqual([39, 9, 10]);
    expect(report.rounds[2]!.downstream!.againstBase!.n).toBe(39);
    expect(report.base!.againstBase).toBeNull();
    expect(JSON.parse(JSON.stringify(report))).toEqual(report);
  });

  it('finds no overlap of grader and graded under crossfit, and one under dr-zero', async () => {
    const { report } = await audited({ questions: 16 });
    const grading = report.graders.filter(({ phase, round }) => phase === 'proposer' && round > 1);
    const crossfit = grading.filter(({ system }) => system === 'crossfit');
    expect(new Set(crossfit.map(({ role }) => role))).toEqual(new Set(['auxiliary 0', 'auxiliary 1']));
    expect(crossfit.map(({ overlap }) => overlap)).toEqual([0, 0, 0, 0]);
    expect(crossfit.every(({ ancestry }) => ancestry! > 0)).toBe(true);
    const coupled = grading.filter(({ system }) => system === 'dr-zero');
    expect(coupled.map(({ role }) => role)).toEqual(['main solver', 'main solver']);
    expect(coupled.every(({ overlap }) => overlap! > 0)).toBe(true);
    expect(report.graders[0]).toMatchObject({ phase: 'proposer', role: 'base policy', ancestry: 0, overlap: 0 });
  });

  it('lists false agreements by how many agree, merging repeats of a question', async () => {
    const { report } = await audited({ feedback: byHand });
    const { label, reference, agreeing, responses, times, key, system } = report.falseAgreements.find(
      (found) => found.system === 'shared',
    )!;
    expect({ label, reference, agreeing, responses, times, key, system }).toEqual({
      label: 'red',
      reference: 'blue',
      agreeing: 4,
      responses: 5,
      // Three solver steps, and the proposer step where only two agreed.
      times: 4,
      key: 'round1/solver/000',
      system: 'shared',
    });
  });

  it('warns where agreement exceeds accuracy, in words that name the system', async () => {
    const { report } = await audited({
      feedback: ({ round, system }) =>
        ['s1', 's2', 's3', 's4'].map((source) =>
          asked(source, 1, round === 1 ? 'NNNNN' : system === 'crossfit' ? 'CCCDD' : 'FFFNN'),
        ),
    });
    expect(report.warnings.filter(({ scope }) => scope === 'scheduled')).toEqual([
      { round: 2, reason: 'agreement_rises_alone', system: 'dr-zero', scope: 'scheduled' },
      { round: 2, reason: 'agreement_exceeds_accuracy', system: 'dr-zero', scope: 'scheduled' },
      { round: 3, reason: 'agreement_rises_alone', system: 'dr-zero', scope: 'scheduled' },
      { round: 3, reason: 'agreement_exceeds_accuracy', system: 'dr-zero', scope: 'scheduled' },
    ]);
    // b − a at the last round: every source alike, so there is no spread.
    expect(report.contrasts[0]).toMatchObject({
      a: 'dr-zero',
      b: 'crossfit',
      round: 3,
      proposer: { F: { point: -0.6, low: -0.6, high: -0.6 }, TP: { point: 1, low: 1, high: 1 } },
    });
  });

  it('audits the bank: truth of the labels, distinct questions, hop mix', async () => {
    const { report } = await audited({ feedback: byHand });
    // The bank of round 1 is what proposer step 99 graded: one right label, one that cannot be resolved.
    expect(report.rounds[0]!.bank).toMatchObject({ admitted: 2, judged: 1, distinct: 2, sources: 2, tried: 5 });
    expect(report.rounds[0]!.bank!.TP!.point).toBe(1);
    expect(report.rounds[0]!.bank!.byHops[2]).toEqual({ admitted: 1, judged: 0, TP: null });
  });

  it('reads a run that is not done', async () => {
    const { report } = await audited({ done: false, rounds: 1, solverSteps: 0 });
    expect(report.done).toBe(false);
    expect(report.rounds.map(({ scopes }) => scopes.solver.shares)).toEqual([null, null]);
    expect(report.contrasts).toEqual([]);
  });

  it('says what is missing where there is nothing to audit', async () => {
    const dir = folder();
    await (await openRun(dir, spec)).close();
    await expect(auditRun(await openReader(dir), fixtureAuditor)).rejects.toThrow(
      /no setup record \(its recipe is "test"\)/,
    );
  });
});
