/** Every feedback plan under both label rules, live, in one run: who grades, what it was fitted on, and for how many updates. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { baseDescent, descentOf } from '../../src/recipe/descent.ts';
import { SYSTEMS, type SystemName } from '../../src/recipe/systems.ts';
import type { SetupRecord, StepRecord, WriteRecord } from '../../src/record.ts';
import { lineage } from '../../src/store/descent.ts';
import { openReader, type RunReader } from '../../src/store/read.ts';
import { runTiny } from './tiny.ts';

const names = Object.keys(SYSTEMS) as SystemName[];

/** By hand, from the table of method.md section 4; A is 3 updates. */
const EXPECTED: Readonly<Record<string, { updates: readonly [number, number]; trainsOnTheSource: boolean }>> = {
  coupled: { updates: [0, 0], trainsOnTheSource: true },
  crossfit: { updates: [3, 3], trainsOnTheSource: false },
  'same-source': { updates: [3, 3], trainsOnTheSource: true },
  'full-data': { updates: [3, 3], trainsOnTheSource: true },
  'random-question': { updates: [3, 3], trainsOnTheSource: true },
  'half-budget': { updates: [2, 1], trainsOnTheSource: false },
};

let root: string;
let reader: RunReader;
let steps: { readonly key: string; readonly record: StepRecord }[];
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'crossfold-systems-'));
  await runTiny(join(root, 'run'), { systems: names, auxiliarySteps: 3, sources: 8, admitted: 16, questions: 8 });
  reader = await openReader(join(root, 'run'));
  steps = [];
  for await (const { key, value } of reader.events()) {
    const record = value as unknown as StepRecord;
    if (record.kind === 'step') steps.push({ key, record });
  }
}, 300_000);
afterAll(() => rm(root, { recursive: true, force: true }));

const under = (prefix: string): StepRecord[] =>
  steps.filter(({ key }) => key.startsWith(prefix)).map(({ record }) => record);

describe('a live system', () => {
  it('comes to its end with every other in one run, each label rule with one first round', async () => {
    expect(await reader.get('done')).toEqual({ kind: 'done' });
    expect(names).toHaveLength(12);
    for (const name of names) expect(reader.keys(`${name}/round2/evaluate`), name).toHaveLength(1);
    const phases = ({ phase }: StepRecord) => phase !== 'auxiliary';
    expect([under('round1/').filter(phases).length, under('msv/round1/').filter(phases).length]).toEqual([4, 4]);
  });

  it.each(names)('%s is graded as its row says', async (name) => {
    const { feedback, labels } = SYSTEMS[name];
    const { updates, trainsOnTheSource } = EXPECTED[feedback]!;
    expect([0, 1].map((h) => under(`${name}/round1/auxiliary${h}/`).length)).toEqual(updates);

    const { base } = (await reader.get('setup')) as unknown as SetupRecord;
    const { ancestry } = lineage([baseDescent(base), ...steps.flatMap(({ record }) => descentOf(record) ?? [])]);
    const asked = under(`${name}/round2/proposer/`).flatMap((step) => step.feedback);
    expect(asked.length).toBeGreaterThan(4);
    const trained = asked.map(({ grader, source }) => ancestry(grader).has(source));
    expect(trained.includes(true)).toBe(trainsOnTheSource);

    const first = labels === 'msv' ? 'msv/round1' : 'round1';
    const main = under(`${first}/solver/`).at(-1)!.after.policy;
    const graders = new Set(asked.map(({ grader }) => grader));
    if (feedback === 'coupled') expect([...graders]).toEqual([main]);
    else {
      const fitted = [0, 1].map((h) => under(`${name}/round1/auxiliary${h}/`).at(-1)!.after.policy);
      expect([...graders].sort()).toEqual(fitted.sort());
    }
    const { verification } = (await reader.get(`${first}/write`)) as unknown as WriteRecord;
    expect(verification !== null).toBe(labels === 'msv');
  });
});
