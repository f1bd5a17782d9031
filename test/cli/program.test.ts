import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { runProgram, told } from '../../src/cli/program.ts';
import { codeVersion, commit, packageVersion } from '../../src/cli/version.ts';
import { evolveSchema } from '../../src/recipe/config.ts';
import { InfraError, Interrupted, UserError } from '../../src/util/error.ts';
import { nearest } from '../../src/util/suggest.ts';
import { folder } from '../store/folder.ts';
import { recorded } from './terminal.ts';

async function run(...args: string[]) {
  const { terminal, out, err } = recorded();
  return { code: await runProgram(args, terminal), out: out(), err: err() };
}

const COMMANDS = ['compare', 'evolve', 'audit', 'show', 'ask', 'doctor', 'pretrain'];

describe('command line', () => {
  it('prints help without a command', async () => {
    const { code, out, err } = await run();
    expect([code, err]).toEqual([0, '']);
    for (const name of COMMANDS) expect(out).toContain(`\n  ${name} `);
  });

  it.each(COMMANDS)('%s has help with examples', async (name) => {
    const { code, out, err } = await run(name, '--help');
    expect([code, err]).toEqual([0, '']);
    expect(out).toMatch(new RegExp(`Examples:\n  crossfold ${name}\\b`));
  });

  it('prints its version', async () => {
    expect(await run('--version')).toEqual({ code: 0, out: `${codeVersion()}\n`, err: '' });
    expect(codeVersion()).toBe(commit() === null ? packageVersion() : `${packageVersion()}+${commit()}`);
    expect(packageVersion()).toMatch(/^\d+\.\d+\.\d+/);
  });

  it.each([
    [['audti'], `unknown command 'audti' (Did you mean audit?); see "crossfold --help"`],
    [['evolve', '--sed', '3'], `unknown option '--sed' (Did you mean --seed?); see "crossfold evolve --help"`],
    [['ask', 'x'], `required option '--run <dir>' not specified; see "crossfold ask --help"`],
    [['compare', '--seed'], `option '--seed <n>' argument missing; see "crossfold compare --help"`],
    [['audit'], `missing required argument 'path'; see "crossfold audit --help"`],
    [['evolve', '--rounds', 'x'], '--rounds is "x"; expected a whole number, at least 1'],
    [['audit', 'nowhere'], 'nowhere: does not exist; expected the folder of a run or a log file'],
    [
      ['show', 'x', '--outcome', 'bad'],
      `option '--outcome <name>' argument 'bad' is invalid. Allowed choices are right, wrong, false-agreement, malformed, error; see "crossfold show --help"`,
    ],
    [['show', 'x', '--limit', '0'], '--limit is "0"; expected a whole number, at least 1'],
    [['show', 'x', '--json', '--rollouts'], `option '--json' cannot be used with option '--rollouts'`],
    [['show', 'nowhere'], 'nowhere: no run here (run.json is missing)'],
    [['ask', 'q', '--run', 'nowhere'], 'nowhere: no run here (run.json is missing)'],
    [['report', 'nowhere'], 'nowhere: no run here (run.json is missing); name the folder of a run'],
    [
      ['replay', '--bank', 'nowhere'],
      '--bank is "nowhere", which is not there; expected the folder of a run, or a file',
    ],
    [['replay', '--bank', 'x', '--rounds', '2'], "unknown option '--rounds'"],
    [['evolve', '--docs', 'no/such/folder'], 'no/such/folder'],
    [['pretrain', 'tiny'], `argument 'policy'. Allowed choices are mini, reader; see "crossfold pretrain --help"`],
    [['pretrain', 'mini', '--tokens', '1.5'], '--tokens is "1.5"; expected a whole number, at least 1'],
    [['pretrain', 'reader'], 'needs text to learn from; give --docs DIR'],
    [['pretrain', 'reader', '--docs', 'a', '--corpora', 'b'], `option '--docs <path>' cannot be used with option`],
    [['evolve', '--policy', 'minni'], 'neither a shipped policy (mini, reader)'],
  ])('%j is one line on stderr and exit code 2', async (args, message) => {
    const { code, out, err } = await run(...args);
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain(message);
    expect(err).toMatch(/^crossfold: [^\n]*\n$/);
  });

  it('a folder that cannot be written is exit code 3', async () => {
    const file = join(folder(), 'file');
    writeFileSync(file, '');
    const { code, err } = await run('compare', '--run', join(file, 'run'), '--sources', '10');
    expect(code).toBe(3);
    expect(err).toMatch(/^crossfold: [^\n]*cannot write[^\n]*\n$/);
  });

  it('a file where a folder is needed is exit code 2', async () => {
    const file = join(folder(), 'file');
    writeFileSync(file, '');
    const { code, err } = await run('compare', '--run', file, '--sources', '10');
    expect([code, err]).toEqual([2, `crossfold: ${file}: is a file, and a folder is needed; name another folder\n`]);
  });

  it.each([
    [new UserError('bad'), 2, 'crossfold: bad\n'],
    [new UserError('a\u001b[2J\nb'), 2, 'crossfold: a\\e[2J\nb\n'],
    [new InfraError('down'), 3, 'crossfold: down\n'],
    [new Interrupted('x'), 130, 'crossfold: stopped; run the same command again to go on\n'],
  ])('%s has its exit code', (error, code, message) => {
    const { terminal, err } = recorded();
    expect(told(error, 'crossfold --help', terminal)).toBe(code);
    expect(err()).toBe(message);
  });

  it('a bug shows its stack and is exit code 1', () => {
    const { terminal, err } = recorded();
    expect(told(new TypeError('oops'), 'crossfold --help', terminal)).toBe(1);
    expect(err()).toMatch(/this is a bug in crossfold; please report it\nTypeError: oops\n +at /);
  });

  it('prints the settings of a run and the schema of its file', async () => {
    const { code, out } = await run('evolve', '--print-config', '--rounds', '2');
    expect(code).toBe(0);
    expect(evolveSchema.parse(parse(out))).toMatchObject({ rounds: 2, systems: ['crossfit'] });
    const schema = await run('compare', '--schema');
    expect(JSON.parse(schema.out)).toMatchObject({ type: 'object', additionalProperties: false });
  });

  it('does so for a replay too, which needs no run for it', async () => {
    const bank = join(folder(), 'bank.jsonl');
    writeFileSync(bank, '{"question": "founder of Brask Mills ?", "label": "Ada Voss", "source": "brask-mills"}\n');
    const { code, out } = await run('replay', '--bank', bank, '--print-config', '--responses', '3');
    expect(code).toBe(0);
    expect(parse(out)).toMatchObject({ responses: 3, policy: 'mini' });
    expect(JSON.parse((await run('replay', '--bank', bank, '--schema')).out)).toMatchObject({ type: 'object' });
  });

  it('of a replay has the settings alone that fitting, answering and the exam use', async () => {
    const { out } = await run('replay', '--help');
    const flags = out.split('\n').flatMap((line) => /^ {2}(?:-\w, )?(--[\w-]+)/.exec(line)?.[1] ?? []);
    expect(flags.sort()).toEqual([
      ...['--bank', '--base', '--config', '--docs', '--engine', '--first-rank', '--gold', '--gold-per-hop'],
      ...['--grad-clip', '--help', '--json', '--judge', '--judge-model', '--limit', '--loss-mean', '--matcher'],
      ...['--miss', '--plans', '--policy', '--preset', '--print-config', '--probe', '--questions', '--quiet'],
      ...['--responses', '--run', '--schema', '--seeds', '--solver-rate', '--system', '--temperature', '--tokenizer'],
      ...['--top-k', '--top-p', '--unverifiable', '--updates', '--warmup-steps', '--weight-decay', '--wordings'],
      ...['--workers', '--world-seed'],
    ]);
  });
});

describe('suggestions', () => {
  it.each([
    ['solver_steps', 'solverSteps'],
    ['crosfit', 'crossfit'],
    ['corssfit', 'crossfit'],
    ['xyz', null],
    ['', null],
    ['x'.repeat(1000), null],
  ])('%s: %s', (typed, name) => {
    expect(nearest(typed, ['solverSteps', 'crossfit', 'dr-zero'])).toBe(name);
  });
});
