/** Several seeds: a run each, then one report; a system and an arm added later; runs of another length refused. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runProgram } from '../../src/cli/program.ts';
import type { SeedsReport } from '../../src/recipe/seeds/report.ts';
import { seedTables } from '../../src/report/seeds/tables.ts';
import { openRun } from '../../src/store/run.ts';
import { recorded } from '../cli/terminal.ts';
import { runTiny, tinyConfig } from './tiny.ts';
import { runTinyTrain } from './tiny-train.ts';

let root: string;
let report: SeedsReport;
const seedDir = (seed: number): string => join(root, `seed${seed}`);
const print = async (...args: readonly string[]) => {
  const { terminal, out, err } = recorded();
  const code = await runProgram(args, terminal);
  return { code, out: out(), err: err() };
};

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'crossfold-seeds-'));
  for (const seed of [1, 2]) await runTiny(seedDir(seed), { seed });
  const { code, out, err } = await print('report', seedDir(1), seedDir(2), '--json');
  expect(code, err).toBe(0);
  report = JSON.parse(out);
}, 180_000);
afterAll(() => rm(root, { recursive: true, force: true }));

describe('a comparison over seeds', () => {
  it('gives mean, deviation and paired differences', () => {
    expect([report.seeds, report.systems, report.done]).toEqual([[1, 2], ['dr-zero', 'crossfit'], true]);
    const round = (system: string) => report.rounds.find((r) => r.system === system && r.round === 2)!;
    const [a, b] = [round('dr-zero').em!, round('crossfit').em!];
    const [contrast] = report.contrasts;
    expect(contrast).toMatchObject({ a: 'dr-zero', b: 'crossfit', round: 2, seeds: [1, 2] });
    const expected = [b.values[0]! - a.values[0]!, b.values[1]! - a.values[1]!];
    expect(contrast!.em!.difference.values).toEqual(expected);
    const sd = Math.abs(expected[0]! - expected[1]!) / Math.SQRT2;
    expect(contrast!.em!.difference.sd).toBeCloseTo(sd, 12);
    // t with one degree of freedom.
    expect(contrast!.em!.overSeeds!.high).toBeCloseTo(
      (expected[0]! + expected[1]!) / 2 + (12.706 * sd) / Math.SQRT2,
      9,
    );
    const { difference, overSources } = contrast!.proposer.F;
    expect(overSources!.point).toBeCloseTo(difference.mean, 12);
  });

  it('counts the shared part for both systems, and auxiliary updates for the one that has them', () => {
    const { 'dr-zero': zero, crossfit } = report.costs;
    expect(zero!.auxiliaryUpdates).toBe(0);
    expect(crossfit!.auxiliaryUpdates).toBe(4);
    expect(zero!.verifications).toBe(0);
    expect(crossfit!.usage.trained).toBeGreaterThan(zero!.usage.trained);
  });

  it('writes the page, the Markdown and the JSON', async () => {
    const page = await readFile(join(root, 'report.html'), 'utf8');
    expect(page).toContain('<title>dr-zero, crossfit in world 5, seeds 1, 2');
    expect(page).not.toContain('<script');
    expect(page.match(/<svg /g)!.length).toBe(8);
    expect(await readFile(join(root, 'report.md'), 'utf8')).toMatch(/\| crossfit \| 2 \| 2 \| .* ± /);
    expect(JSON.parse(await readFile(join(root, 'report.json'), 'utf8'))).toEqual(report);
  });

  it('takes a system that another run added, and refuses doubled runs', async () => {
    await runTiny(join(root, 'added'), { seed: 1, systems: ['msv'] });
    const added = await print(
      'report',
      seedDir(1),
      seedDir(2),
      join(root, 'added'),
      '--json',
      '--out',
      join(root, 'more'),
    );
    const more: SeedsReport = JSON.parse(added.out);
    expect(more.systems).toEqual(['dr-zero', 'crossfit', 'msv']);
    expect(more.contrasts.find(({ b }) => b === 'msv')).toMatchObject({
      seeds: [1],
      proposer: { F: { overSeeds: null } },
    });
    expect(more.costs.msv!.verifications).toBeGreaterThan(0);
    const doubled = await print('report', seedDir(1), seedDir(1));
    expect([doubled.code, doubled.err]).toEqual([2, expect.stringContaining('both hold dr-zero, seed 1')]);
    const empty = await print('report', seedDir(1), '--systems=');
    const known = 'expected some of what the runs have: dr-zero, crossfit';
    expect([empty.code, empty.err]).toEqual([2, expect.stringContaining(`--systems is ""; ${known}`)]);
    const unknown = await print('report', seedDir(1), '--systems', 'dr-zero,msv');
    expect([unknown.code, unknown.err]).toEqual([2, expect.stringContaining(`--systems names "msv"; ${known}`)]);
  }, 120_000);

  it('puts training baselines beside the loop: exam by hops, and no row of what they do not have', async () => {
    const dirs = (['search-r1', 'sft', 'sqlm'] as const).map((recipe) => [recipe, join(root, recipe)] as const);
    for (const [recipe, dir] of dirs) await runTinyTrain(dir, recipe, { seed: 1, prompts: 8, admitted: 12 });
    const args = ['report', seedDir(1), ...dirs.map(([, dir]) => dir), '--out', join(root, 'beside')];
    const { code, out, err } = await print(...args, '--json');
    expect(code, err).toBe(0);
    const found: SeedsReport = JSON.parse(out);
    expect(found.exams.map(({ system }) => system)).toEqual(['dr-zero', 'crossfit', 'search-r1', 'sft', 'sqlm']);
    for (const { em, byHops, againstBase, seeds } of found.exams) {
      expect([seeds, Object.keys(byHops)]).toEqual([[1], ['1', '2', '3', '4']]);
      const hops = Object.values(byHops).map(({ mean }) => mean);
      // Three questions of each.
      expect(em.mean).toBeCloseTo(hops.reduce((sum, x) => sum + x, 0) / 4, 12);
      expect(againstBase!.difference.mean).toBeCloseTo(em.mean - found.base!.mean, 12);
    }
    const figures = (name: string): string[] =>
      seedTables(found)
        .find(({ caption }) => caption.startsWith('Minus dr-zero'))!
        .rows.flatMap(([system, figure, round]) => (system === name && round === '2' ? [figure!] : []));
    expect(figures('sft')).toEqual(['exam EM']);
    expect(figures('search-r1')).toEqual(['F', 'A', 'exam EM']);
    const page = await readFile(join(root, 'beside', 'report.html'), 'utf8');
    expect(page).toContain('EM − base');
    expect(page).not.toContain('NaN');
    // In whatever order: a baseline shares no round.
    const turned = await print('report', dirs[0]![1], seedDir(1), '--out', join(root, 'turned'), '--json');
    const { rounds } = JSON.parse(turned.out) as SeedsReport;
    expect(rounds.filter(({ round }) => round === 1).map(({ part }) => part)).toEqual([
      'search-r1',
      'shared',
      'shared',
    ]);
    const alone = await print('report', ...dirs.map(([, dir]) => dir), '--out', join(root, 'alone'));
    expect(alone.code, alone.err).toBe(0);
    expect(alone.out).toMatch(/search-r1 +1 /);
  }, 120_000);

  it('makes arms of settings, and refuses other rounds before any audit', async () => {
    const grpo = join(root, 'grpo');
    await runTiny(grpo, { seed: 1, systems: ['dr-zero'], estimator: 'grpo', responses: 2 });
    const arms = await print('report', seedDir(1), seedDir(2), grpo, '--json', '--out', join(root, 'arms'));
    const found: SeedsReport = JSON.parse(arms.out);
    const name = 'dr-zero, responses 2, proposer-estimator grpo';
    expect(found.systems).toEqual(['dr-zero', 'crossfit', name]);
    expect(found.contrasts.map(({ b, round, seeds }) => [b, round, seeds])).toEqual([
      ['crossfit', 2, [1, 2]],
      [name, 1, [1]],
      [name, 2, [1]],
    ]);
    const [plain, group] = [found.proposers!['dr-zero']!, found.proposers![name]!];
    expect([plain.proposals.values, group.proposals.values]).toEqual([[1, 1], [4]]);
    // 1 × 3 and 4 × 2, less what the gate kept from the solver.
    expect(plain.responses.mean).toBeGreaterThan(1);
    expect(plain.responses.mean).toBeLessThanOrEqual(3);
    expect(group.responses.mean).toBeGreaterThan(3);
    expect(group.responses.mean).toBeLessThanOrEqual(8);
    expect(group.variance.mean).toBeGreaterThan(0);
    expect(found.costs['dr-zero']).toEqual(report.costs['dr-zero']);
    expect(await readFile(join(root, 'arms', 'report.html'), 'utf8')).toContain(`3: ${name}`);

    const config = tinyConfig({ seed: 4, rounds: 3, estimator: 'grpo' });
    const longer = join(root, 'longer');
    await (await openRun(longer, { recipe: 'evolve', config, seed: 4, codeVersion: 'test', parents: [] })).close();
    const { code, err } = await print('report', seedDir(1), longer);
    expect([code, err]).toEqual([2, expect.stringContaining('--rounds is 3, but in')]);
  }, 120_000);
});
