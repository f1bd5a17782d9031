/** Verified labels in the loop: msv and msv+crossfit branch from a first round of their own, which draft systems do not share. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RolloutRecord, StepRecord, WriteRecord } from '../../src/record.ts';
import { parseRollouts } from '../../src/report/rollouts.ts';
import { openReader, type RunReader } from '../../src/store/read.ts';
import { normalize } from '../../src/text/normalize.ts';
import { runTiny } from './tiny.ts';

let root: string;
let reader: RunReader;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'crossfold-msv-'));
  await runTiny(join(root, 'run'), { systems: ['dr-zero', 'msv', 'msv+crossfit'] });
  reader = await openReader(join(root, 'run'));
}, 180_000);
afterAll(() => rm(root, { recursive: true, force: true }));

const one = async <T>(key: string): Promise<T> => (await reader.get(key)) as T;
const rolloutsOf = async (record: { readonly rollouts: string }): Promise<RolloutRecord[]> =>
  parseRollouts(await reader.blobs.get(record.rollouts), record.rollouts);

describe('verified labels in the loop', () => {
  it('share a first round that is not the one of draft labels', async () => {
    expect(reader.keys('round1').length).toBe(6);
    expect(reader.keys('msv/round1').length).toBe(6);
    expect((await one<StepRecord>('msv/round1/proposer/000')).system).toBe('shared+msv');
    for (const system of ['msv', 'msv+crossfit']) {
      const first = await one<StepRecord>(`${system}/round2/proposer/000`);
      expect(first.before).toEqual((await one<StepRecord>('msv/round1/proposer/001')).after);
    }
    expect(reader.keys('msv+crossfit/round1/auxiliary0').length).toBe(2);
    expect(reader.keys('msv/round1/auxiliary0').length).toBe(0);
  });

  it('ask six answers a candidate and count them apart; draft labels ask none', async () => {
    expect((await one<StepRecord>('round1/proposer/000')).verification).toBeNull();
    const step = await one<StepRecord>('msv/round1/proposer/000');
    const v = step.verification!;
    expect(v.candidates).toBe(step.counts.formed);
    expect(v.generations).toBe(6 * v.candidates);
    expect(v.admitted).toBe(step.feedback.length);
    expect(v.admitted + Object.values(v.refused).reduce((a, b) => a + b, 0)).toBe(v.candidates);
    expect(v.usage.sampled).toBeGreaterThan(0);
    expect(v.usage.sampled).toBeLessThan(step.usage.sampled);
    const verifier = (await rolloutsOf(step)).filter(({ role }) => role === 'verifier');
    expect(verifier.length).toBe(v.generations);
    expect(v.searches).toBe(verifier.reduce((sum, { rollout }) => sum + rollout.searches, 0));
  });

  it('admit what both views agree on, with the label of the view that sees the source', async () => {
    const { bank, rollouts, refused, tried } = await one<WriteRecord & { rollouts: string }>('msv/round1/write');
    const notes = await rolloutsOf({ rollouts });
    expect(bank.length).toBe(12);
    expect(tried).toBeGreaterThan(12);
    expect(Object.keys(refused).some((reason) => reason.includes('majorit'))).toBe(true);
    for (const { question, label, source } of bank) {
      const groups = notes.filter((n) => n.role === 'verifier' && n.about === question && n.source === source);
      const answers = groups.map(({ rollout, attempt }) => ({ attempt, said: normalize(rollout.answer ?? '') }));
      const votes = (from: number) =>
        answers.filter(({ attempt, said }) => Math.floor(attempt / 3) === from && said === normalize(label)).length;
      expect(votes(0)).toBeGreaterThanOrEqual(2);
      expect(votes(1)).toBeGreaterThanOrEqual(2);
    }
  });

  it('never show a verifier the draft', async () => {
    const notes = await rolloutsOf(await one<StepRecord>('msv/round1/proposer/000'));
    for (const note of notes.filter(({ role }) => role === 'verifier')) {
      expect(note.text[0]!.text).toContain('<solve>');
      expect(note.text[0]!.text).not.toContain('<answer>');
    }
  });
});
