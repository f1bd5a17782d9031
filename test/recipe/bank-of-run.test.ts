/** What is said of a run that has no bank: waiting helps only where the run goes on. */
import { expect, it } from 'vitest';
import { runProgram } from '../../src/cli/program.ts';
import { bankOfRun } from '../../src/recipe/replay/bank.ts';
import { openReader } from '../../src/store/read.ts';
import { openRun } from '../../src/store/run.ts';
import { recorded } from '../cli/terminal.ts';
import { folder } from '../store/folder.ts';

async function begun(done: boolean): Promise<string> {
  const dir = folder();
  const run = await openRun(dir, { recipe: 'train', config: {}, seed: 1, codeVersion: 'x', parents: [] });
  await run.once('setup', async () => ({ kind: 'setup', systems: ['sqlm'], rounds: 1 }));
  if (done) await run.once('done', async () => ({ kind: 'done' }));
  await run.close();
  return dir;
}

it.each([
  [false, /sqlm has admitted no question yet; let the run go on first$/],
  [true, /sqlm has admitted no question, and the run is finished; name a run of evolve, compare or train r-zero/],
])('finished: %s', async (done, message) => {
  await expect(bankOfRun(await openReader(await begun(done)))).rejects.toThrow(message);
});

it('of a replay says what it holds', async () => {
  const dir = folder();
  const run = await openRun(dir, { recipe: 'replay', config: {}, seed: 1, codeVersion: 'x', parents: [] });
  await run.once('setup', async () => ({ kind: 'replay-setup' }));
  await run.close();
  await expect(bankOfRun(await openReader(dir))).rejects.toThrow(
    `${dir}: holds a replay, which admits no questions; name the folder of a run of evolve, compare or train r-zero`,
  );
});

it.each(['show', 'ask', 'bank'])('%s says which runs it takes', async (name) => {
  const { terminal, out } = recorded();
  expect(await runProgram([name, '--help'], terminal)).toBe(0);
  expect(out().replace(/\s+/g, ' ')).toContain('folder of a run of evolve, compare or train');
});
