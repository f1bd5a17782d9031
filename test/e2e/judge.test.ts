/** Runs whose matcher is a judge: what it changes, what it is counted as, and what happens when it is killed, away or moved. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runProgram } from '../../src/cli/program.ts';
import { answerKey } from '../../src/matcher/exact.ts';
import type { ReplayReport } from '../../src/recipe/replay/report.ts';
import type { SeedsReport } from '../../src/recipe/seeds/report.ts';
import type { JudgeRequests, StepRecord, WriteRecord } from '../../src/record.ts';
import { openReader } from '../../src/store/read.ts';
import { goodReply } from '../auditor/fake-judge.ts';
import { recorded } from '../cli/terminal.ts';
import { type Answer, type Call, type FakeServer, fakeServer } from '../engine/openai-server.ts';

const SMALL = [
  ...['--rounds', '1', '--sources', '20', '--proposer-steps', '2', '--prompts', '8', '--admitted', '6'],
  ...['--solver-steps', '1', '--questions', '4', '--responses', '3', '--gold-per-hop', '1', '--workers', '1'],
];
const EVOLVE = ['evolve', '--system', 'dr-zero', ...SMALL];
const MAIN = join(import.meta.dirname, '../../src/cli/main.ts');

let root: string;
const servers: FakeServer[] = [];
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'crossfold-judge-'));
});
afterAll(async () => {
  await rm(root, { recursive: true, force: true });
  for (const server of servers) await server.close();
});

const SELF_TEST = 'When was it signed?';
/** Answers that begin alike are one: an alias that `exact` does not know. */
const alike = (a: string, b: string): boolean => a[0]?.toLowerCase() === b[0]?.toLowerCase();
function say(prompt: string): string {
  if (!prompt.startsWith('{')) return 'Hello!';
  const { question, first, second } = JSON.parse(prompt);
  if (question === SELF_TEST) return goodReply({ messages: [{ role: 'user', content: prompt }] });
  return JSON.stringify({ same: alike(first, second) });
}

/** Pairs of the run that a call is about; the probe and the self-test are none. */
const pairOf = ({ body }: Call): string | null => {
  const prompt: string = body.messages.at(-1).content;
  return prompt.startsWith('{') && JSON.parse(prompt).question !== SELF_TEST ? prompt : null;
};
const pairsAsked = ({ calls }: FakeServer): string[] => calls.flatMap((call) => pairOf(call) ?? []);

/** `instead` hears of the pairs, counted from 0. */
async function judge(instead: (n: number) => Answer | undefined = () => undefined): Promise<FakeServer> {
  let n = 0;
  const server = await fakeServer({ say, instead: (call) => (pairOf(call) === null ? undefined : instead(n++)) });
  servers.push(server);
  return server;
}
const by = ({ url }: FakeServer): string[] => ['--matcher', 'judge', '--judge', `openai:${url}`, '--judge-model', 'm'];
/** Nobody waits for an hour: the retries of a server that is away take half a minute. */
const AWAY: Answer = { status: 503, headers: { 'retry-after': '3600' }, body: { error: { message: 'no worker' } } };

async function crossfold(...args: readonly string[]) {
  const { terminal, out, err } = recorded();
  const code = await runProgram(args, terminal);
  return { code, out: out(), err: err() };
}
const at = (name: string): string => join(root, name);
const records = async (name: string) => {
  const reader = await openReader(at(name));
  const found: (StepRecord | WriteRecord)[] = [];
  for await (const { value } of reader.events()) {
    const record = value as unknown as StepRecord | WriteRecord;
    if (['step', 'write'].includes(record.kind)) found.push(record);
  }
  return found;
};
/** Keys and values; times are of the machine. */
const journal = async (name: string): Promise<unknown[]> => {
  const reader = await openReader(at(name));
  return Promise.all(reader.keys().map(async (key) => [key, await reader.get(key)]));
};
const stepsOf = async (name: string) => (await records(name)).flatMap((own) => (own.kind === 'step' ? [own] : []));

describe('evolve with a judge', () => {
  let whole: FakeServer;
  beforeAll(async () => {
    whole = await judge();
    const { code, err } = await crossfold(...EVOLVE, ...by(whole), '--run', at('whole'));
    expect(code, err).toBe(0);
    const exact = await crossfold(...EVOLVE, '--run', at('exact'));
    expect(exact.code, exact.err).toBe(0);
  });

  it('rewards what it finds the same, and only that', async () => {
    const [judged, exact] = [await stepsOf('whole'), await stepsOf('exact')];
    // Until the first update, both do the same.
    const responses = ({ feedback }: StepRecord) => feedback.map((own) => own.responses);
    expect(responses(judged[0]!)).toEqual(responses(exact[0]!));
    expect(judged[0]!.agreement).toBeGreaterThan(exact[0]!.agreement!);
    const rewards = (steps: readonly StepRecord[]) => steps.map(({ reward }) => reward.mean);
    expect(rewards(judged)).not.toEqual(rewards(exact));
    for (const { label, responses, matches } of judged.flatMap(({ feedback }) => feedback))
      expect(matches).toEqual(responses.map((own) => own !== null && alike(own.trim(), label.trim())));
  });

  it('counts the distinct pairs that are not equal anyway, step by step', async () => {
    const steps = await stepsOf('whole');
    for (const { feedback, judged } of steps) {
      const pairs = feedback.flatMap(({ question, label, responses }) =>
        responses.flatMap((own) =>
          own === null || answerKey(own) === answerKey(label) ? [] : `${question}\n${[own, label].sort().join('\n')}`,
        ),
      );
      expect(judged).toBe(new Set(pairs).size);
    }
    const written = (await records('whole')).filter(({ kind }) => kind === 'write');
    expect(written.map(({ judged }) => judged)).toEqual([0]);
    expect(new Set(pairsAsked(whole)).size).toBe(pairsAsked(whole).length);
    for (const record of await records('exact')) expect(record).not.toHaveProperty('judged');
  });

  it('reports them: a column of the cost of a comparison, and of the run', async () => {
    const { code, out, err } = await crossfold('report', at('whole'), '--json', '--out', at('report'));
    expect(code, err).toBe(0);
    const report: SeedsReport = JSON.parse(out);
    const total = (await records('whole')).reduce((sum, { judged }) => sum + judged!, 0);
    expect(total).toBeGreaterThan(0);
    expect(report.costs['dr-zero']!.judged).toBe(total);
    const written = (...path: string[]): Promise<string> => readFile(join(root, ...path), 'utf8');
    expect(await written('report', 'report.md')).toMatch(
      new RegExp(`judge requests .*\\n.*\\n.* ${total} \\(1\\.00×\\) `),
    );
    expect(await written('report', 'report.html')).toContain(`>${total} (1.00×)<`);
    expect(await written('whole', 'report.html')).toContain('judge requests');
    expect(await written('exact', 'report.html')).not.toContain('judge requests');
  });

  it('killed, away, and back at another address, comes to the same, and asks nothing twice that was answered', async () => {
    const args = [...EVOLVE, '--run', at('broken')];
    const expected = await journal('whole');
    const kills = await judge((n) => {
      if (n === 3) child.kill('SIGKILL');
      return undefined;
    });
    const child = spawn(process.execPath, ['--import', 'tsx', MAIN, ...args, ...by(kills)], { stdio: 'ignore' });
    const [, signal] = await once(child, 'exit');
    expect(signal).toBe('SIGKILL');
    const kept = (await journal('broken')).length;
    expect(kept).toBeLessThan(expected.length);

    const leaves = await judge((n) => (n >= 6 ? AWAY : undefined));
    const away = await crossfold(...args, ...by(leaves));
    expect(away.code).toBe(3);
    expect(away.err).toMatch(/judge m: .*answered 503.*what was answered is kept, and the same command goes on/);
    const answered = pairsAsked(leaves).slice(0, 6);
    const after = (await journal('broken')).length;
    expect(after).toBeLessThan(expected.length);

    const back = await judge();
    const done = await crossfold(...args, ...by(back));
    expect(done.code, done.err).toBe(0);
    expect(await journal('broken')).toEqual(expected);
    expect(pairsAsked(back).filter((pair) => answered.includes(pair))).toEqual([]);
    expect(new Set(pairsAsked(back)).size).toBe(pairsAsked(back).length);
  });
});

describe('a judge whose verdicts cannot be read', () => {
  const garbage: Answer = { body: { choices: [{ message: { content: 'I would say so' }, finish_reason: 'stop' }] } };

  it('any more stops the run; none of it is scored or kept, and a mended one comes to the same', async () => {
    const args = [...EVOLVE, '--run', at('garbled')];
    let answered = 0;
    const turns = await fakeServer({
      say,
      instead: (call) => {
        if (pairOf(call) !== null) answered++;
        return answered > 6 ? garbage : undefined;
      },
    });
    servers.push(turns);
    const { code, err } = await crossfold(...args, ...by(turns));
    expect(code).toBe(3);
    expect(err).toMatch(/judge m gives no readable verdicts any more: judge m fails its self-test .*I would say so/);
    const mended = await judge();
    const done = await crossfold(...args, ...by(mended));
    expect(done.code, done.err).toBe(0);
    expect(await journal('garbled')).toEqual(await journal('whole'));
  });

  it('now and then is told in records, report and alarm, and what hangs on it is left out', async () => {
    const third = await judge((n) => (n % 3 === 1 ? garbage : undefined));
    const { code, out, err } = await crossfold(...EVOLVE, ...by(third), '--run', at('third'));
    expect(code, err).toBe(0);
    const found = await records('third');
    const [judged, unread] = (['judged', 'unread'] as const).map((of) => found.reduce((sum, own) => sum + own[of]!, 0));
    expect(unread).toBeGreaterThan(0);
    expect(unread).toBeLessThan(judged! / 2);
    expect(out).toContain(`The judge gave no readable verdict on ${unread} of ${judged} pairs of answers`);
    expect(err).toMatch(/unread-verdicts/);
    expect(await readFile(join(root, 'third', 'report.html'), 'utf8')).toContain(`${judged} (${unread} unread)`);
    // Every response that is scored was told, and those that were not are counted as lost.
    const steps = await stepsOf('third');
    for (const { label, responses, matches } of steps.flatMap(({ feedback }) => feedback))
      expect(matches).toEqual(responses.map((own) => own !== null && alike(own.trim(), label.trim())));
    expect(steps.reduce((sum, { counts }) => sum + counts.failed, 0)).toBeGreaterThan(0);
    const stopped = await crossfold(...EVOLVE, ...by(third), '--run', at('stopped'), '--stop-on', 'unread-verdicts');
    expect(stopped.err).toMatch(/unread-verdicts/);
    expect((await journal('stopped')).length).toBeLessThan((await journal('third')).length);
  });
});

describe('other commands', () => {
  it('train with a judge', async () => {
    const server = await judge();
    const { code, out, err } = await crossfold('train', 'search-r1', ...SMALL, ...by(server), '--run', at('train'));
    expect(code, err).toBe(0);
    const total = (await records('train')).reduce((sum, { judged }) => sum + judged!, 0);
    expect(total).toBe(pairsAsked(server).length);
    expect(out).toContain('judge requests');
  });
});

describe('a replay', () => {
  const flags = ['--plans', 'coupled', '--seeds', '1', '--updates', '1', '--probe', '2', '--questions', '3'];

  it('is judged as its run is, and counts fitting, answers and audit apart', async () => {
    const bank = at('bank.jsonl');
    const [item] = (await records('whole')).flatMap((own) => (own.kind === 'write' ? own.bank : []));
    const row = {
      ...item!,
      reference: item!.label,
      responses: [item!.label, `${item!.label[0]}x`, 'zz', `${item!.label[0]}x`],
    };
    await writeFile(bank, `${JSON.stringify(row)}\n`);
    const server = await judge();
    const own = ['--policy', 'mini', '--responses', '2', '--gold-per-hop', '1', '--workers', '1', ...flags];
    const args = ['replay', '--bank', bank, ...own, ...by(server), '--run', at('replay')];
    const { code, out, err } = await crossfold(...args, '--json');
    expect(code, err).toBe(0);
    const report: ReplayReport = JSON.parse(out);
    const reader = await openReader(at('replay'));
    const counts = await Promise.all(
      ['base/answer', 'seed1/fit/draft/main/000', 'seed1/answer/coupled'].map(
        async (key) => ((await reader.get(key)) as JudgeRequests).judged!,
      ),
    );
    expect(report.judged).toBe(counts[0]! + counts[1]! + counts[2]!);
    // Of the responses that came along, two do not equal the label, which is the reference too.
    expect(report.logged!.shares).toMatchObject({ A: 3 / 4, TS: 3 / 4, TP: 1 });
    expect(report.auditAsked!.judged).toBeGreaterThanOrEqual(2);
    expect(new Set(pairsAsked(server)).size).toBe(pairsAsked(server).length);
    expect(await readFile(join(root, 'replay', 'report.md'), 'utf8')).toContain(`judge requests: ${report.judged} of`);
    const text = await crossfold(...args);
    expect(text.out).toContain(
      `judge requests: ${report.judged} of the replay, ${report.auditAsked!.judged} of its audit`,
    );
  });
});

describe('settings', () => {
  it.each([
    [['--matcher', 'judge'], /--matcher judge needs --judge openai:URL and --judge-model NAME/],
    [['--matcher', 'judge', '--judge', 'openai:http://127.0.0.1:1'], /--matcher judge needs --judge-model NAME/],
    [['--judge-model', 'm'], /--judge-model is "m", but the matcher is exact; add --matcher judge/],
    [['--matcher', 'judge', '--judge', 'local', '--judge-model', 'm'], /judge is "local".*openai:URL/],
    [
      ['--matcher', 'judge', '--judge', 'openai:x', '--judge-model', 'm'],
      /--judge openai:URL is "x"; expected an address/,
    ],
  ])('%j is answered with what to do', async (flags, message) => {
    for (const command of [['evolve'], ['compare'], ['train', 'r1']]) {
      const { code, err } = await crossfold(...command, ...flags, '--run', at('never'));
      expect(code).toBe(2);
      expect(err).toMatch(message);
    }
  });

  it('a model that is not served, or a server that is not there, is told as the judge', async () => {
    const server = await judge();
    const other = await crossfold(...EVOLVE, ...by(server), '--judge-model', 'n', '--run', at('never'));
    expect([other.code, other.err]).toEqual([
      2,
      expect.stringMatching(/^crossfold: judge: .* serves no model "n"; it serves m; .*--judge-model/),
    ]);
    const gone = ['--matcher', 'judge', '--judge', 'openai:http://127.0.0.1:1', '--judge-model', 'm'];
    const nobody = await crossfold(...EVOLVE, ...gone, '--run', at('never'));
    expect([nobody.code, nobody.err]).toEqual([3, expect.stringMatching(/^crossfold: judge: .*cannot be reached/)]);
  });

  it('a judge that fails its self-test leaves no run', async () => {
    const server = await fakeServer({ say: () => '{"same": true}', models: ['m', 'other'] });
    servers.push(server);
    const { code, err } = await crossfold(...EVOLVE, ...by(server), '--run', at('never'));
    expect(code).toBe(2);
    expect(err).toMatch(/judge m fails its self-test on "4 July 1776" and "4 July 1777"/);
    await expect(openReader(at('never'))).rejects.toThrow();
  });
});
