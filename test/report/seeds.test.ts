/** Arms in the reports of several runs: what is shown once, and how many arms are told apart. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EvolveConfig } from '../../src/recipe/config.ts';
import { checkBase } from '../../src/recipe/seeds/base.ts';
import { type SeedsReport, seedsReport } from '../../src/recipe/seeds/report.ts';
import type { SeedRun } from '../../src/recipe/seeds/runs.ts';
import { seedsHtml } from '../../src/report/seeds/html.ts';
import { seedTables } from '../../src/report/seeds/tables.ts';
import { seedsMarkdown, warningLines } from '../../src/report/seeds/text.ts';
import { openReader } from '../../src/store/read.ts';
import { tinyConfig } from '../e2e/tiny.ts';
import { asked, fixtureAuditor, type Shape, writeRun } from './fixture.ts';

const SMALL: Partial<Shape> = { rounds: 2, proposerSteps: 1, solverSteps: 1, questions: 4 };

/** One journal, looked at under several settings. */
async function opened(dir: string, over: Partial<EvolveConfig>) {
  const config = tinyConfig({ seed: 1, responses: 5, ...over });
  return { dir, config, systems: config.systems, gold: null, reader: await openReader(dir), auditor: fixtureAuditor };
}

const namesOf = (report: SeedsReport, caption: string): string[] =>
  seedTables(report)
    .find((own) => own.caption.startsWith(caption))!
    .rows.map(([name, second]) => `${name} | ${second}`);

let root: string;
let same: string;
let other: string;
/** dr-zero and crossfit under three settings. */
let report: SeedsReport;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'crossfold-arms-'));
  [same, other] = [join(root, 'same'), join(root, 'other')];
  await writeRun(same, SMALL);
  await writeRun(other, {
    ...SMALL,
    feedback: ({ phase }) => [asked('s1', 1, phase === 'solver' ? 'CCFNL' : 'FFFNL')],
  });
  report = await seedsReport([
    await opened(same, {}),
    await opened(same, { auxiliarySteps: 5 }),
    await opened(other, { formatWeight: 0 }),
  ]);
});
afterAll(() => rm(root, { recursive: true, force: true }));

describe('arms', () => {
  it('show a first round once where it is the very same, and apart where it is not', () => {
    expect(namesOf(report, 'Scheduled steps')).toEqual([
      'base | 0',
      'shared | 1',
      'dr-zero | 2',
      'crossfit | 2',
      'dr-zero, aux-budget 5 | 2',
      'crossfit, aux-budget 5 | 2',
      'shared, format-weight 0 | 1',
      'dr-zero, format-weight 0 | 2',
      'crossfit, format-weight 0 | 2',
    ]);
    expect([...new Set(namesOf(report, 'Minus dr-zero'))].filter((row) => row.endsWith('| A'))).toEqual([
      'crossfit | A',
      'dr-zero, aux-budget 5 | A',
      'crossfit, aux-budget 5 | A',
      'shared, format-weight 0 | A',
      'dr-zero, format-weight 0 | A',
      'crossfit, format-weight 0 | A',
      'crossfit, aux-budget 5 − dr-zero, aux-budget 5 | A',
      'crossfit, format-weight 0 − dr-zero, format-weight 0 | A',
    ]);
    expect(report.contrasts.find(({ b, round }) => b === 'dr-zero, aux-budget 5' && round === 2)).toMatchObject({
      proposer: { F: { difference: { values: [0] } } },
    });
  });

  it('have a table of their proposer updates, and none where settings are equal', async () => {
    const runs = [await opened(same, {}), await opened(other, { estimator: 'grpo', responses: 4 })];
    const own = await seedsReport(runs);
    const table = seedTables(own).find(({ caption }) => caption.startsWith('Proposer updates'))!;
    expect(table.heads.slice(0, 4)).toEqual(['figure', 'dr-zero', 'crossfit', 'dr-zero, proposer-estimator grpo']);
    const row = (name: string) => table.rows.find(([figure]) => figure === name)!.slice(1, 4);
    expect(row('updates')).toEqual(['2', '2', '2']);
    // 4,000 a step, as every step of the journals.
    expect(row('tokens in')).toEqual(['8.00 k (1.00×)', '8.00 k (1.00×)', '8.00 k (1.00×)']);
    expect(row('F of proposer steps, last round')[2]).toBe('.600');
    expect(seedsMarkdown(own)).toContain('4 responses a question, in the solver');
  });

  it('stand alone where settings are equal: no such table, names at the lines', async () => {
    const own = await seedsReport([await opened(same, {})]);
    expect(own.proposers).toBeNull();
    expect(seedTables(own).some(({ caption }) => caption.startsWith('Proposer updates'))).toBe(false);
    const page = seedsHtml(own);
    expect(page).not.toMatch(/class="legend"|<polyline[^>]*stroke-dasharray/);
    expect(page).toMatch(/<text class="name c1"[^>]*>crossfit<\/text>/);
  });

  it('can be fewer systems than the runs have', async () => {
    const runs = async () => [await opened(same, {}), await opened(other, { formatWeight: 0 })];
    const own = await seedsReport(await runs(), ['crossfit']);
    expect(own.systems).toEqual(['crossfit', 'crossfit, format-weight 0']);
    expect(own.warnings.every(({ system }) => own.systems.includes(system))).toBe(true);
    expect(Object.keys(own.costs)).toEqual(own.systems);
    await expect(seedsReport(await runs(), ['msv'])).rejects.toThrow(
      /--systems is "msv"; .*same has dr-zero, crossfit/,
    );
  });

  it('count the base policy once a seed, however many runs the seed has', async () => {
    const run = await opened(same, {});
    const halves = ['dr-zero', 'crossfit'].map((system) => ({ ...run, systems: [system] }));
    const found = await seedsReport(halves);
    const { base, otherBases, seeds } = found;
    expect([base!.values.length, base!.sd, otherBases, seeds]).toEqual([1, null, [], [1]]);
    const title = (own: SeedsReport): string => seedsMarkdown(own).split('\n')[0]!;
    expect(title(found)).toMatch(/^# dr-zero, crossfit in .*, seed 1 \(2 runs of one seed\), audited by /);
    expect(title(await seedsReport([run]))).toMatch(/, seed 1 \(a single run\), audited by /);
    expect(seedsHtml(found)).toContain('one standard deviation (one seed has none).');
  });

  it('are told apart in the charts by ink, then by dashes; long names stand in a legend', () => {
    const twin = (name: string): string => `${name}, gate drop`;
    const twins = <T>(of: Readonly<Record<string, T>>): Record<string, T> =>
      Object.fromEntries(
        Object.entries(of).flatMap(([name, own]) => [
          [name, own],
          [twin(name), own],
        ]),
      );
    const twelve: SeedsReport = {
      ...report,
      systems: [...report.systems, ...report.systems.map(twin)],
      rounds: [...report.rounds, ...report.rounds.map((own) => ({ ...own, system: twin(own.system) }))],
      costs: twins(report.costs),
      proposers: twins(report.proposers!),
    };
    const page = seedsHtml(twelve);
    expect(page).toContain('12: crossfit, format-weight 0, gate drop');
    expect(page).toMatch(/<polyline class="line c0" points="[^"]*"\/>/);
    expect(page).toMatch(/<polyline class="line c0" points="[^"]*" stroke-dasharray="6 3"\/>/);
    expect(page).not.toMatch(/stroke-dasharray="2 3"\/>/);
    expect(page).toContain('<title>dr-zero; crossfit; dr-zero, aux-budget 5; ');
    expect(page).not.toMatch(/NaN|undefined|\[object|Infinity/);
  });

  it('count warnings among the seeds that have the arm', () => {
    const warned: SeedsReport = {
      ...report,
      seeds: [1, 2, 3],
      warnings: [{ seed: 1, system: 'dr-zero, format-weight 0', round: 2, scope: 'proposer' }],
    };
    expect(warningLines(warned)).toEqual([
      'dr-zero, format-weight 0, round 2, in proposer steps: suspected co-cheating in 1 of 1 seeds (1)',
    ]);
  });

  it('refuses another base policy under the same name', () => {
    const started = (policy: string) => ({ report: { setup: { base: { policy } } } }) as unknown as SeedRun;
    const at = (dir: string) => ({ dir, config: tinyConfig(), systems: [], gold: null });
    const runs = [started('a'), started('a'), started('b')];
    expect(() => checkBase([at('r1'), at('r2'), at('r3')], runs)).toThrow(
      /^r3: policy mini has the weights b, but in r1 it has a; /,
    );
    expect(() => checkBase([at('r1'), at('r2')], runs)).not.toThrow();
  });
});
