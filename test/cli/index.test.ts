import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { openCountdown, stepText } from '../../src/cli/countdown.ts';
import { runProgram } from '../../src/cli/program.ts';
import { acquireLock } from '../../src/store/lock.ts';
import { folder } from '../store/folder.ts';
import { recorded } from './terminal.ts';

let root: string;
let out: string;
beforeEach(() => {
  root = folder();
  out = join(root, 'idx');
  mkdirSync(join(root, 'docs'));
  writeFileSync(join(root, 'docs', 'lamp.md'), '# The Lamp\n\nThe **lamp** of Oker burns at night.\n');
  writeFileSync(join(root, 'docs', 'mill.txt'), 'The mill grinds corn \u001b[2J by day.');
  writeFileSync(join(root, 'docs', 'empty.txt'), ' \n');
  writeFileSync(join(root, 'docs', 'map.png'), 'png');
});

async function run(args: readonly string[], isTTY = false) {
  const { terminal, out, err } = recorded(isTTY);
  return { code: await runProgram(args, terminal), out: out(), err: err() };
}

describe('crossfold index', () => {
  it('prints what was read, what was left out and why, and what to do next', async () => {
    const { code, out: text, err } = await run(['index', join(root, 'docs'), '--out', out]);
    expect([code, err]).toEqual([0, '']);
    expect(text.split('\n')).toEqual([
      'Index',
      'files read             3',
      'files of other kinds   1',
      'documents              2',
      'passages               2',
      expect.stringMatching(/^different words {7}\d+$/),
      'left out               1',
      '  no text              1',
      'Left out:',
      '  empty.txt: the file is empty',
      expect.stringMatching(/^Corpus [0-9a-f]{16}, index in .*idx$/),
      expect.stringMatching(/^Next: crossfold search "\.\.\." --index .*idx$/),
      '',
    ]);
  });

  it('leaves out links to nowhere and says so, and stops at them when it is strict', async () => {
    symlinkSync('gone.txt', join(root, 'docs', 'dangling.txt'));
    symlinkSync('..', join(root, 'docs', 'round'));
    mkdirSync(join(root, 'docs', '.git'));
    const { code, out: text, err } = await run(['index', join(root, 'docs'), '--out', out]);
    expect([code, err]).toEqual([0, '']);
    for (const line of [
      /^links to folders {3,}1$/m,
      /^hidden files and folders {3,}1$/m,
      /^left out {3,}2$/m,
      /^ {2}file or folder that cannot be read {3,}1$/m,
      /^ {2}dangling\.txt: cannot be read: it does not exist$/m,
    ])
      expect(text).toMatch(line);
    const strict = await run(['index', join(root, 'docs'), '--out', out, '--strict']);
    expect(strict.code).toBe(2);
    expect(strict.err).toMatch(/^crossfold: dangling\.txt: cannot be read: it does not exist\. Repair it/);
  });

  it('prints JSON, and nothing else', async () => {
    const { code, out: text, err } = await run(['index', join(root, 'docs'), '--out', out, '--json', '--k1', '1.2']);
    expect([code, err]).toEqual([0, '']);
    expect(JSON.parse(text)).toMatchObject({
      out,
      manifest: { passages: 2, k1: 1.2, b: 0.4, chunking: { words: 100 } },
      report: { files: 3, sources: 2, skipped: 1, skippedBy: { empty: 1 } },
    });
  });

  it.each([
    [['--strict'], /^crossfold: empty\.txt: the file is empty\. Repair it, or leave out --strict/],
    [['--k1', 'x'], /--k1 is "x"; expected a number/],
    [['--b', '3'], /b is 3; expected a number between 0 and 1/],
    [['--words', '5'], /words is 5; expected a whole number of at least 10/],
    [['--ann'], /--ann is for vectors; give --encoder too/],
    [['--encoder', 'nowhere'], /Encoder "nowhere" is neither a server nor a folder/],
  ])('%j is one line on stderr and exit code 2', async (flags, message) => {
    const { code, out: text, err } = await run(['index', join(root, 'docs'), '--out', out, ...flags]);
    expect([code, text]).toEqual([2, '']);
    expect(err).toMatch(message);
    expect(err).toMatch(/^crossfold: [^\n]*\n$/);
    expect(existsSync(out)).toBe(false);
  });

  it('that is built already names --out', async () => {
    const release = acquireLock(`${out}.lock`);
    onTestFinished(release);
    const { code, err } = await run(['index', join(root, 'docs'), '--out', out]);
    expect(code).toBe(2);
    expect(err).toMatch(/idx\.lock: process \d+ has been writing here since .* or use another --out folder\n$/);
  });

  it('leaves a folder that is no index as it is', async () => {
    const { code, err } = await run(['index', join(root, 'docs'), '--out', join(root, 'docs')]);
    expect(code).toBe(2);
    expect(err).toContain('is not empty and no index: it is left as it is');
    expect(readFileSync(join(root, 'docs', 'map.png'), 'utf8')).toBe('png');
  });
});

describe('crossfold search', () => {
  beforeEach(async () => {
    await run(['index', join(root, 'docs'), '--out', out]);
  });

  it('prints the hits with score, title, id and text', async () => {
    const { code, out: text, err } = await run(['search', 'LAMP at night?', '--index', out]);
    expect([code, err]).toEqual([0, '']);
    expect(text).toMatch(/^1 {2}\d\.\d+ {2}The Lamp {2}lamp\.md\n {3}The lamp of Oker burns at night\.\n$/);
  });

  it('marks the words of the query on a terminal, and shows what would steer it', async () => {
    const { out: text } = await run(['search', 'corn mill', '--index', out, '-k', '1'], true);
    expect(text).toContain('The \u001b[1mmill\u001b[22m grinds \u001b[1mcorn\u001b[22m \\e[2J by day.');
    expect(text).not.toContain('\u001b[2J');
  });

  it('prints JSON', async () => {
    const { out: text } = await run(['search', 'the', '--index', out, '-k', '2', '--json']);
    expect(JSON.parse(text)).toMatchObject({
      query: 'the',
      hits: [
        { score: expect.any(Number), id: 'lamp.md', source: 'lamp.md', title: 'The Lamp' },
        { id: 'mill.txt', text: 'The mill grinds corn \u001b[2J by day.' },
      ],
    });
  });

  it('says when nothing was found', async () => {
    expect((await run(['search', 'xyzzy', '--index', out])).out).toBe('No passage has a word of the query.\n');
  });

  it.each([
    [[' '], /the query is empty/],
    [['x', '--mode', 'dense'], /has no vectors; search it with mode bm25/],
    [['x', '--mode', 'best'], /Allowed choices are bm25, dense, hybrid/],
    [['x', '-k', '0'], /--k is "0"; expected a whole number, at least 1/],
  ])('%j is one line on stderr and exit code 2', async (args, message) => {
    const { code, err } = await run(['search', ...args, '--index', out]);
    expect(code).toBe(2);
    expect(err).toMatch(message);
    expect(err).toMatch(/^crossfold: [^\n]*\n$/);
  });

  it('refuses an index with a changed byte', async () => {
    const file = join(out, 'passages.jsonl');
    writeFileSync(file, readFileSync(file, 'utf8').replace('burns', 'turns'));
    const { code, out: text, err } = await run(['search', 'lamp', '--index', out]);
    expect([code, text]).toEqual([2, '']);
    expect(err).toContain(`${file} is damaged: its checksum is not that of the manifest`);
  });

  it('refuses a folder without an index', async () => {
    const { code, err } = await run(['search', 'x', '--index', join(root, 'docs')]);
    expect(code).toBe(2);
    expect(err).toContain('no index here (manifest.json is missing)');
  });
});

describe('the countdown', () => {
  const show = (n: number): string => `${n} MB`;

  it('tells share, amount and time left', () => {
    expect(stepText({ phase: 'reading', done: 25, total: 100, show }, 10_000)).toBe(
      'reading  25 %  25 MB of 100 MB  30s left',
    );
    expect(stepText({ phase: 'reading', done: 0, total: 100, show }, 0)).toBe('reading  0 %  0 MB of 100 MB');
    // Half of what is told was there when it began.
    expect(stepText({ phase: 'encoding', done: 60, total: 100, show }, 10_000, 50)).toBe(
      'encoding  60 %  60 MB of 100 MB  40s left',
    );
  });

  it('writes over its line on a terminal, adds lines elsewhere, and is silent when it is off', () => {
    const shown = (isTTY: boolean, off: boolean): string => {
      const { terminal, err } = recorded(isTTY);
      let now = 0;
      const countdown = openCountdown(terminal, off, () => now);
      for (let i = 0; i <= 30; i++) {
        now = i * 500;
        countdown.report({ phase: 'reading\u001b', done: i, total: 30, show });
      }
      countdown.close();
      return err();
    };
    const live = shown(true, false);
    expect(live.startsWith('\rreading\\e  3 %')).toBe(true);
    expect(live.endsWith('\r\u001b[K')).toBe(true);
    expect(live).not.toContain('\n');
    expect(
      shown(false, false)
        .split('\n')
        .map((line) => line.slice(0, 15)),
    ).toEqual(['reading\\e  13 %', 'reading\\e  80 %', '']);
    expect(shown(true, true)).toBe('');
  });
});
