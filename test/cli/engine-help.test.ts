/** What the commands that take an engine say about servers before any is reached. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runProgram } from '../../src/cli/program.ts';
import { folder } from '../store/folder.ts';
import { recorded } from './terminal.ts';

async function run(...args: string[]) {
  const { terminal, out, err } = recorded();
  return { code: await runProgram(args, terminal), out: out(), err: err() };
}

it.each(['evolve', 'compare', 'train', 'replay', 'evaluate', 'doctor'])(
  'crossfold %s --help tells of profiles',
  async (name) => {
    const { code, out } = await run(name, '--help');
    expect(code).toBe(0);
    expect(out.replace(/\s+/g, ' ')).toMatch(/--engine <\w+> .*?tinker:URL\[#PROFILE\]/);
  },
);

it('a profile that is misspelt is told at once, and leaves no run folder', async () => {
  const dir = join(folder(), 'run');
  const engine = 'tinker:http://127.0.0.1:1#tufft';
  for (const command of [['evolve'], ['train', 'r1']]) {
    const { code, err } = await run(...command, '--engine', engine, '--base', 'm', '--tokenizer', 'mini', '--run', dir);
    expect([code, err]).toEqual([
      2,
      expect.stringContaining('"tufft" is unknown (did you mean tuft?); expected a pro'),
    ]);
    expect(existsSync(dir)).toBe(false);
  }
});
