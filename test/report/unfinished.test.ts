/** Runs of several seeds, not all of them finished: what a figure is of, and what a run costs. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type SeedsReport, seedsReport } from '../../src/recipe/seeds/report.ts';
import { seedCount } from '../../src/report/seeds/spread.ts';
import { seedTables } from '../../src/report/seeds/tables.ts';
import { seedsMarkdown } from '../../src/report/seeds/text.ts';
import { openReader } from '../../src/store/read.ts';
import { tinyConfig } from '../e2e/tiny.ts';
import { folder } from '../store/folder.ts';
import { asked, fixtureAuditor, type Shape, writeRun } from './fixture.ts';

const SMALL: Partial<Shape> = { rounds: 2, proposerSteps: 1, solverSteps: 1, questions: 4 };

/** A run of the fixture under another seed. */
async function opened(dir: string, seed: number) {
  const config = tinyConfig({ seed, responses: 5 });
  const reader = await openReader(dir);
  const own = { ...reader, manifest: { ...reader.manifest, seed } };
  return { dir, config, systems: config.systems, gold: null, reader: own, auditor: fixtureAuditor };
}

const table = (report: SeedsReport, caption: string) =>
  seedTables(report).find((own) => own.caption.startsWith(caption))!;

describe('runs that are not finished', () => {
  it('count among the seeds of the figures that they have, and not among the costs', async () => {
    const root = folder();
    const [whole, begun, examined] = [join(root, 'whole'), join(root, 'begun'), join(root, 'examined')];
    await writeRun(whole, SMALL);
    await writeRun(begun, { ...SMALL, solverSteps: 3, done: false });
    // Round 2 has an exam and nothing graded.
    await writeRun(examined, {
      ...SMALL,
      done: false,
      feedback: ({ round }) => (round === 2 ? [] : [asked('s1', 1, 'CCDDD')]),
    });
    const found = await seedsReport([await opened(whole, 1), await opened(begun, 2), await opened(examined, 3)]);
    const seeds = (name: string, round: string) =>
      table(found, 'Scheduled').rows.find((row) => row[0] === name && row[1] === round)![2];
    expect([seeds('base', '0'), seeds('shared', '1'), seeds('crossfit', '2')]).toEqual(['3', '3', '2–3']);
    // Judged in full where anything was graded.
    expect(found.rounds.find(({ round }) => round === 2)!.coverage.values.length).toBe(2);
    const contrasts = table(found, 'Minus dr-zero').rows;
    expect(contrasts.map(([, figure, , n]) => `${figure}: ${n}`)).toEqual([
      'F of proposer steps: 2',
      'T_P of proposer steps: 2',
      'F: 2',
      'A: 2',
      'exam EM: 3',
    ]);
    const alone = await seedsReport([await opened(whole, 1)]);
    expect(table(found, 'Cost').rows).toEqual(table(alone, 'Cost').rows);
    expect([found.done, found.unfinished]).toEqual([false, [begun, examined]]);
    expect(seedsMarkdown(found)).toContain(`- Not all runs are finished: ${begun}, ${examined}. Costs`);
    expect(seedsMarkdown(alone)).not.toContain('Not all runs');
    const none = table(await seedsReport([await opened(begun, 2)]), 'Cost').rows;
    expect(none.map(([name]) => name)).toEqual(['dr-zero (unfinished)', 'crossfit (unfinished)']);
    expect(none.flat().some((cell) => cell.includes('×'))).toBe(false);
  });

  it('leave absent figures out of the number of seeds', () => {
    const of = (...values: number[]) => ({ mean: 0, sd: null, values });
    expect(seedCount([of(1), null, of(), of(1)])).toBe('1');
    expect(seedCount([of(1), of(1, 2, 3)])).toBe('1–3');
    expect(seedCount([of(), null])).toBe('–');
  });
});
