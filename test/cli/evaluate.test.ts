import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { SEVEN } from '../../src/benchmark/seven.ts';
import { choosePolicy } from '../../src/cli/policy-of.ts';
import { runProgram } from '../../src/cli/program.ts';
import { buildIndex } from '../../src/retriever/index/build.ts';
import { openRun } from '../../src/store/run.ts';
import { contentId } from '../../src/util/id.ts';
import { tinyConfig } from '../e2e/tiny.ts';
import { fakeServer, type ServerOptions } from '../engine/openai-server.ts';
import { folder } from '../store/folder.ts';
import { recorded } from './terminal.ts';

async function run(...args: string[]) {
  const { terminal, out, err } = recorded();
  return { code: await runProgram(['evaluate', ...args], terminal), out: out(), err: err() };
}

/** Two questions of each set: the value of number n is vN, and a document each says so. */
const questions = SEVEN.flatMap(({ name }, s) =>
  [2 * s, 2 * s + 1].map((n) => ({
    id: `${name}_${n}`,
    dataset: name,
    question: `What is the value of number ${n}?`,
    golden_answers: [`v${n}`],
  })),
);

/** Files in a folder that the test that made them removes. */
async function material(): Promise<{ readonly manifest: string; readonly index: string; readonly dir: string }> {
  const dir = folder();
  const documents = questions.map((_, n) => ({
    id: `d${n}`,
    title: `Number ${n}`,
    text: `The value of number ${n} is v${n}.`,
  }));
  const corpus = join(dir, 'corpus.jsonl');
  const manifest = join(dir, 'exam.jsonl');
  writeFileSync(corpus, documents.map((row) => `${JSON.stringify(row)}\n`).join(''));
  writeFileSync(manifest, questions.map((row) => `${JSON.stringify(row)}\n`).join(''));
  const index = join(dir, 'index');
  await buildIndex({ inputs: [corpus], out: index, version: 'test', command: 'test' });
  return { manifest, index, dir };
}

/** A model that looks for the value in what it was told last, and asks for searches where it is told how. */
function say(prompt: string): string {
  const n = /What is the value of number (\d+)\?/.exec(prompt)?.[1];
  const found = [...prompt.matchAll(/value of number (\d+) is (v\d+)/g)].find(
    (m) => n === undefined || m[1] === n,
  )?.[2];
  if (prompt.includes('one query as <search>')) return `<think>hm</think><search>value of number ${n}</search>`;
  if (prompt.includes('<begin_search_query> query'))
    return `I need <begin_search_query>value of number ${n}<end_search_query> now`;
  if (prompt.startsWith('Someone who reasons')) return `The value of number ${n} is ${found}. More.`;
  if (prompt.includes('Write only the next sentence')) return `So the answer is: ${found}.`;
  return `<think>hm</think><answer>${found ?? 'unknown'}</answer>`;
}

async function server(options: ServerOptions = {}) {
  const fake = await fakeServer({ say, ...options });
  onTestFinished(() => fake.close());
  return { ...fake, flags: ['--engine', `openai:${fake.url}`, '--model', 'm'] };
}

describe('crossfold evaluate', () => {
  it('takes all seven sets with all strategies on a server', async () => {
    const { manifest, index, dir } = await material();
    const { flags } = await server();
    const out = join(dir, 'run');
    const { code, out: printed } = await run(
      '--manifest',
      manifest,
      '--index',
      index,
      '--strategy',
      'all',
      '--out',
      out,
      '--json',
      ...flags,
    );
    expect(code).toBe(0);
    const heads: {
      strategy: string;
      complete: boolean;
      expected: number;
      summary: { macro: { em: { point: number } }; searches: number; sets: object };
    }[] = JSON.parse(printed);
    expect(
      heads.map(({ strategy, complete, expected, summary }) => [
        strategy,
        complete,
        expected,
        summary.macro.em.point,
        summary.searches,
      ]),
    ).toEqual([
      ['direct', true, 14, 0, 0],
      ['cot', true, 14, 0, 0],
      ['rag', true, 14, 1, 1],
      ['ircot', true, 14, 1, 1],
      ['search-o1', true, 14, 1, 1],
      ['search', true, 14, 1, 1],
    ]);
    for (const { summary } of heads) expect(Object.keys(summary.sets)).toEqual(SEVEN.map(({ name }) => name));
    const rollouts = readFileSync(join(out, 'search', 'rollouts.jsonl'), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(rollouts[3].turns.map(({ kind }: { kind: string }) => kind)).toEqual(['prompt', 'reply', 'search', 'reply']);
    expect(rollouts[3].turns[2].text).toContain('Doc 1 (Title: Number 3) The value of number 3 is v3.');
  });

  it('takes them on the local engine, where a small policy knows nothing', async () => {
    const { manifest, index, dir } = await material();
    const { code, out, err } = await run(
      '--manifest',
      manifest,
      '--index',
      index,
      '--strategy',
      'all',
      '--limit',
      '1',
      '--out',
      join(dir, 'run'),
    );
    expect(code).toBe(0);
    for (const name of ['direct', 'cot', 'rag', 'ircot', 'search-o1', 'search']) {
      expect(err).toContain(`New run in ${join(dir, 'run', name)}\n`);
      expect(out).toMatch(new RegExp(`^${name}, policy reader$`, 'm'));
      expect(JSON.parse(readFileSync(join(dir, 'run', name, 'result.json'), 'utf8'))).toMatchObject({
        expected: 7,
        complete: true,
      });
    }
    expect(out).toMatch(/^set +n +EM +Cover-EM +Cover-EM \(tokens\) +F1$/m);
    expect(out).toMatch(/^Searches a question 1\.00;/m);
  });

  it('a run with outages is kept and incomplete, with exit code 3; the next one tries just what was lost', async () => {
    const { manifest, index, dir } = await material();
    let down = true;
    const asksFor = (body: { messages: { content: string }[] }): boolean =>
      body.messages.at(-1)!.content.includes('Question: What is the value of number 5?');
    const { flags, calls } = await server({
      // A wait that long is not worth it: no retries.
      instead: ({ body }) =>
        down && asksFor(body) ? { status: 503, headers: { 'retry-after': '900' }, body: 'busy' } : undefined,
    });
    const out = join(dir, 'run');
    const args = ['--manifest', manifest, '--index', index, '--strategy', 'rag', '--out', out, ...flags];
    const first = await run(...args);
    expect(first.code).toBe(3);
    expect(first.out).toContain('INCOMPLETE: 1 (.071) lost to an outage. They are in no figure above.');
    expect(first.err).toMatch(
      /^crossfold: 1 question was lost to an outage \(.*503.*\); run the same command again to try just that$/m,
    );
    const before = calls.filter(({ body }) => body.messages[0].content.includes('Question:')).length;
    expect(before).toBe(14 + 2);

    down = false;
    const second = await run(...args);
    expect([second.code, second.err]).toEqual([0, `Continuing ${out} after retry/001/000 (3 batches are kept)\n`]);
    expect(calls.filter(({ body }) => body.messages[0].content.includes('Question:')).length).toBe(before + 1);
    const unbroken = join(dir, 'unbroken');
    await run(...args.map((arg) => (arg === out ? unbroken : arg)));
    for (const file of ['results.jsonl', 'result.json', 'rollouts.jsonl'])
      expect(readFileSync(join(out, file), 'utf8')).toBe(readFileSync(join(unbroken, file), 'utf8'));
  });

  it('says what is missing or does not fit', async () => {
    const { manifest, index, dir } = await material();
    const { flags } = await server();
    const exam = ['--manifest', manifest];
    expect(await run(...exam, '--out', join(dir, 'run'))).toMatchObject({
      code: 2,
      err: expect.stringContaining('strategy search searches: give --index'),
    });
    expect((await run(...exam, '--index', index, '--policy', 'mini', ...flags)).err).toContain(
      '--policy is "mini", but --engine openai:',
    );
    expect((await run(...exam, '--index', index, '--policy', 'nobody')).err).toContain(
      'policy "nobody": neither a shipped policy',
    );
    expect((await run(...exam, '--index', join(dir, 'nothing'), ...flags)).code).toBe(2);
    expect((await run(...exam, '--strategy', 'magic')).err).toContain('magic');
    expect((await run('--manifest', join(dir, 'none.jsonl'), ...flags)).code).toBe(2);
    const file = await run(...exam, '--index', index, '--out', manifest, ...flags);
    expect([file.code, file.err]).toEqual([2, expect.stringContaining(`${manifest}: is a file; --out is a folder`)]);
    const foreign = await run(...exam, '--index', index, '--out', dir, ...flags);
    expect([foreign.code, foreign.err]).toEqual([2, expect.stringContaining('use a new --out folder')]);
    for (const flag of [
      ['--model', 'm'],
      ['--api', 'chat'],
      ['--context-length', '5'],
    ]) {
      const useless = await run(...exam, '--index', index, ...flag);
      expect([useless.code, useless.err]).toEqual([2, expect.stringContaining(`${flag[0]} is for a server`)]);
    }
  });

  it('warns when searches find nothing', async () => {
    const { manifest, dir } = await material();
    const { flags } = await server();
    const empty = createServer(async (request, response) => {
      let text = '';
      for await (const chunk of request) text += chunk;
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ result: (JSON.parse(text || '{}').queries ?? []).map(() => []) }));
    });
    await once(empty.listen(0, '127.0.0.1'), 'listening');
    onTestFinished(() => void empty.close());
    const index = `http://127.0.0.1:${(empty.address() as AddressInfo).port}`;
    for (const strategy of ['rag', 'search']) {
      const out = join(dir, strategy);
      const taken = await run('--manifest', manifest, '--index', index, '--strategy', strategy, '--out', out, ...flags);
      expect(taken.code).toBe(0);
      expect(taken.err).toContain(`Warning: ${strategy}: every search found nothing`);
      expect(taken.out).toContain('(1.000 of them found nothing)');
      const head = JSON.parse(readFileSync(join(out, 'result.json'), 'utf8'));
      expect(head.summary.emptySearches).toBe(1);
    }
  });

  it('warns when the model says nothing, in the text and in the JSON', async () => {
    const { manifest, index, dir } = await material();
    const { flags } = await server({ say: () => '' });
    for (const strategy of ['cot', 'search']) {
      const out = join(dir, strategy);
      const args = ['--manifest', manifest, '--index', index, '--strategy', strategy, '--out', out, ...flags];
      const taken = await run(...args);
      expect(taken.code).toBe(0);
      expect(taken.err).toContain(`Warning: ${strategy}: every question got an empty reply: `);
      expect(taken.out).toContain(', with an empty reply 1.000.');
      const { warnings, summary } = JSON.parse((await run(...args, '--json')).out);
      expect(summary).toMatchObject({ unanswered: 1, emptyReplies: 1 });
      expect(warnings).toEqual([expect.stringMatching(/^every question got an empty reply: .*rollouts\.jsonl/)]);
    }
  });

  it('needs no index where nothing is searched', async () => {
    const { manifest, dir } = await material();
    const { flags } = await server();
    const { code, out } = await run(
      '--manifest',
      manifest,
      '--strategy',
      'cot',
      '--out',
      join(dir, 'run'),
      '--json',
      ...flags,
    );
    expect(code).toBe(0);
    expect(JSON.parse(out).warnings).toEqual([]);
    expect(JSON.parse(out).fingerprint).toMatchObject({
      strategy: 'cot',
      index: 'none',
      topK: 3,
      turns: 5,
      maxTokens: 512,
    });
  });
});

describe('--policy', () => {
  it('RUN is the last solver of a run, RUN:SYSTEM that of one system', async () => {
    const dir = join(folder(), 'compare-it');
    const config = tinyConfig();
    const store = await openRun(dir, { recipe: 'compare', config, seed: 3, codeVersion: 'test', parents: [] });
    const ids = await Promise.all(['one', 'two', 'three'].map((text) => store.blobs.put(Buffer.from(text))));
    const records = [
      ['round1/evaluate', 'shared', 1, ids[0]],
      ['dr-zero/round2/evaluate', 'dr-zero', 2, ids[1]],
      ['crossfit/round2/evaluate', 'crossfit', 2, ids[2]],
    ] as const;
    for (const [key, system, round, policy] of records)
      await store.once(key, async () => ({ kind: 'evaluation', system, round, policy }));
    await store.close();

    const last = await choosePolicy(dir);
    expect(last).toMatchObject({ name: 'compare-it-crossfit', id: contentId('three'), parents: [dir] });
    expect(Buffer.from(await last.blobs.get(last.id!)).toString()).toBe('three');
    expect(await choosePolicy(`${dir}:dr-zero`)).toMatchObject({ name: 'compare-it-dr-zero', id: contentId('two') });
    await expect(choosePolicy(`${dir}:msv`)).rejects.toThrow('the run has no system "msv"; it has dr-zero, crossfit');
    expect(await choosePolicy('mini')).toMatchObject({ name: 'mini', id: null, parents: [] });
  });
});
