/** `crossfold audit FILE` as people run it: reports, messages, a judge behind an OpenAI-compatible server. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { runProgram } from '../../src/cli/program.ts';
import { damagedRollouts } from '../../src/recipe/audit/blobs.ts';
import { openReader } from '../../src/store/read.ts';
import { goodReply } from '../auditor/fake-judge.ts';
import { type Answer, type Call, fakeServer } from '../engine/openai-server.ts';
import { HOSTILE, writeRun } from '../report/fixture.ts';
import { folder } from '../store/folder.ts';
import { recorded } from './terminal.ts';

const HAND = fileURLToPath(new URL('../paper/audit-log.jsonl', import.meta.url));

async function crossfold(...args: string[]) {
  const { terminal, out, err } = recorded(false, {}, 200);
  const code = await runProgram(['audit', ...args], terminal);
  return { code, out: out(), err: err() };
}

describe('audit of a log', () => {
  it('prints tables, warnings and what was assumed', async () => {
    const { code, out, err } = await crossfold(HAND);
    expect([code, err]).toEqual([0, '']);
    const lines = out.split('\n').map((line) => line.trim().replace(/\s+/g, ' '));
    expect(lines).toContain('round C F L D N X1 X2 T_P T_S A J/E J E');
    expect(lines).toContain('1 .375 .125 .188 .125 .188 .000 .000 .500 .563 .500 .900 12 14');
    expect(lines).toContain('2 .125 .500 .000 .000 .125 .188 .063 .250 .313 .813 .833 12 14');
    expect(lines.some((line) => /^b 6 /.test(line))).toBe(true);
    expect(lines).toContain('When did it open? 1921 1912 4/4 2');
    expect(out).toMatch(/! round 2: responses agree more .*A \.500 → \.813.*T_P \.500 → \.250.*suspected co-cheating/);
    expect(out).toContain('question=question, label=label');
    expect(out).toContain('9 rows, 0 of them left out; 9 questions of 5 sources.');
  });

  it('writes JSON, CSV, Markdown and HTML of the same numbers', async () => {
    const dir = folder();
    const at = (name: string): string => join(dir, name);
    const files = ['--csv', at('a.csv'), '--markdown', at('a.md'), '--html', at('a.html')];
    const { code, out } = await crossfold(HAND, '--json', ...files);
    expect(code).toBe(0);
    const audit = JSON.parse(out);
    expect(audit.systems[0].rounds[1].scope.shares).toMatchObject({ F: 0.5, TP: 0.25, A: 0.8125 });
    expect(audit.mapping.reference).toBe('gold');
    const [head, ...lines] = readFileSync(at('a.csv'), 'utf8').trim().split('\n');
    const row = lines.find((line) => line.startsWith('round,log,2,'))!.split(',');
    const names = head!.split(',');
    const value = (name: string): number => Number(row[names.indexOf(name)]);
    expect(['F', 'TP', 'TS', 'A', 'X1', 'excess', 'E', 'J'].map(value)).toEqual([
      0.5, 0.25, 0.3125, 0.8125, 0.1875, 0.5, 14, 12,
    ]);
    expect(lines.every((line) => line.split(',').length === names.length)).toBe(true);
    expect(readFileSync(at('a.md'), 'utf8')).toContain(
      '| 2 | .125 | .500 | .000 | .000 | .125 | .188 | .063 | .250 | .313 | .813 | .833 | 12 | 14 |',
    );
    const page = readFileSync(at('a.html'), 'utf8');
    expect(page).toContain('<td class="n">.813</td>');
    expect(page).not.toMatch(/<script|src=|href=/);
  });

  it('shows text of the log and never renders it', async () => {
    const dir = folder();
    const at = (name: string): string => join(dir, name);
    const row = { source: '=HYPERLINK("x")', question: HOSTILE, label: `a|b ${HOSTILE}`, gold: '`g`', round: HOSTILE };
    const responses = [row.label, '[x](http://x.y)'];
    writeFileSync(at('log.jsonl'), `${JSON.stringify({ ...row, responses })}\n`);
    const files = ['--csv', at('a.csv'), '--markdown', at('a.md'), '--html', at('a.html')];
    const { code, out } = await crossfold(at('log.jsonl'), ...files);
    expect(code).toBe(0);
    const written = ['a.csv', 'a.md', 'a.html'].map((name) => readFileSync(at(name), 'utf8'));
    expect(written[0]).toContain(`"'=HYPERLINK(""x"")"`);
    for (const text of [out, written[1]!, written[2]!])
      for (const char of ['\u001b', '\u202e']) expect(text).not.toContain(char);
    for (const text of written.slice(1)) expect(text).not.toContain('<img');
    // A cell is one cell.
    expect(written[1]).toContain('a&#124;b');
  });

  it('tells of bad rows and goes on, or ends under --strict', async () => {
    const file = join(folder(), 'log.jsonl');
    writeFileSync(file, `${readFileSync(HAND, 'utf8')}{"question": 1\n`);
    const { code, out, err } = await crossfold(file);
    expect(code).toBe(0);
    expect(err).toMatch(/Left out: .*log\.jsonl:10: not JSON/);
    expect(out).toContain('10 rows, 1 of them left out');
    const strict = await crossfold(file, '--strict');
    expect([strict.code, strict.out]).toEqual([2, '']);
    expect(strict.err).toMatch(/log\.jsonl:10: not JSON/);
  });

  it.each([
    [['nowhere.jsonl'], /nowhere\.jsonl: does not exist; expected the folder of a run or a log file/],
    [[HAND, '--matcher', 'judge'], /--matcher judge needs --judge/],
    [[HAND, '--sources', 'x'], /--sources is for a judge; add --judge/],
    [[HAND, '--judge', 'openai:http://127.0.0.1:1'], /needs --judge-model/],
    [[HAND, '--judge', 'local', '--judge-model', 'm'], /--judge is "local"; .*openai:URL/],
    [[HAND, '--judge', 'openai:x', '--judge-model', 'm'], /--judge openai:URL is "x"; expected an address/],
    [[HAND, '--map', 'lable=x'], /did you mean "label"/],
    [[HAND, '--references', 'nowhere.jsonl'], /nowhere\.jsonl/],
  ])('%j is answered with what to do', async (args, message) => {
    const { code, err } = await crossfold(...args);
    expect(code).toBe(2);
    expect(err).toMatch(message);
  });
});

describe('a judge behind a server', () => {
  /** The engine says hello to a server first. */
  const say = (prompt: string): string =>
    prompt.startsWith('{') ? goodReply({ messages: [{ role: 'user', content: prompt }] }) : 'Hello!';
  const rows = [
    { source: 'a', question: 'Where is the tram?', label: 'Oslo', gold: 'Oslo', responses: ['Oslo', 'Rome'] },
    { source: 'b', question: 'Where is the mill?', label: 'York', gold: 'Leeds', responses: ['York', 'Leeds'] },
  ];
  const corpus = [
    { id: 'a', title: 'Tram', text: 'The tram is in Oslo since 1921.' },
    { id: 'b', title: 'Mill', text: 'The mill is in Leeds now.' },
  ];

  async function setUp(instead: (call: Call, n: number) => Answer | undefined = () => undefined) {
    const server = await fakeServer({ say, instead });
    onTestFinished(() => server.close());
    const dir = folder();
    const lines = (list: readonly unknown[]): string => list.map((row) => `${JSON.stringify(row)}\n`).join('');
    writeFileSync(join(dir, 'log.jsonl'), lines(rows));
    writeFileSync(join(dir, 'corpus.jsonl'), lines(corpus));
    const judge = ['--judge', `openai:${server.url}`, '--judge-model', 'm'];
    const args = [join(dir, 'log.jsonl'), '--sources', join(dir, 'corpus.jsonl'), ...judge];
    return { server, dir, args };
  }

  it('audits, reports its own error and its cost, and asks for nothing twice', async () => {
    const { dir, args } = await setUp();
    const { code, out, err } = await crossfold(...args);
    expect(err).toBe('');
    expect(code).toBe(0);
    expect(out).toMatch(/1 +\.250 +\.250 +\.250 +\.250 +\.000 +\.000 +\.000 +\.500 +\.500 +\.500 +1\.000 +4 +4/);
    expect(out).toMatch(/Judge: 4 requests \(0 answered before, 0 in no readable form\), \d+ tokens in, \d+ out\./);
    expect(out).toContain('Against gold it errs on .000 [.000, .490] of 4 answers');
    expect(existsSync(join(dir, 'judge-cache', 'replies.jsonl'))).toBe(true);
    const again = await crossfold(...args);
    expect(again.out).toContain('Judge: 4 requests (4 answered before, 0 in no readable form)');
  });

  it('whose model is not served is told of by its own option', async () => {
    const { args } = await setUp();
    const { code, err } = await crossfold(...args.slice(0, -1), 'other');
    expect(code).toBe(2);
    expect(err).toMatch(/^crossfold: judge: .* serves no model "other"; it serves m; .* with --judge-model\n/);
  });

  it('that fails its self-test is refused, with what it said', async () => {
    const { args } = await setUp((call, n) =>
      n === 0 ? undefined : { body: reply(call.body.messages.at(-1).content.includes('gold') ? YES : '{}') },
    );
    const { code, err } = await crossfold(...args);
    expect(code).toBe(2);
    expect(err).toMatch(/fails its self-test on gold "The river is .*It said: .*correct/);
  });
});

const YES = '{"verdicts": [{"id": 1, "verdict": "correct"}]}';
const reply = (content: string) => ({
  choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content } }],
  usage: { prompt_tokens: 1, completion_tokens: 1 },
});

describe('rollouts of a run', () => {
  it('that are damaged or gone are named', async () => {
    const dir = folder();
    await writeRun(dir);
    expect(await damagedRollouts(await openReader(dir))).toEqual([]);
    const reader = await openReader(dir);
    const record = (await reader.get('round1/proposer/000')) as { readonly rollouts: string };
    const path = join(dir, 'blobs', record.rollouts.slice(0, 2), record.rollouts.slice(2));
    const bytes = readFileSync(path);
    bytes[bytes.length - 1]! ^= 1;
    writeFileSync(path, bytes);
    const problems = await damagedRollouts(await openReader(dir));
    expect(problems[0]).toMatch(/^round1\/proposer\/000: .*damaged/);
    expect(problems.every((text) => text.includes(record.rollouts.slice(2)))).toBe(true);
  });
});
