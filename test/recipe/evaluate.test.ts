import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { readEvaluation } from '../../src/benchmark/files.ts';
import { scriptedTokenizer } from '../../src/engine/scripted.ts';
import { defaultMaxTokens, fingerprintOf, limited } from '../../src/recipe/evaluate.ts';
import type { StrategyName } from '../../src/strategy/open.ts';
import { CLOZE_TAGS } from '../../src/text/dialect/cloze.ts';
import { COMPACT_TAGS } from '../../src/text/dialect/compact.ts';
import { InfraError } from '../../src/util/error.ts';
import { rng } from '../../src/util/rng.ts';
import { folder } from '../store/folder.ts';
import { exam, examinee, retrieverOf, take } from './exam.ts';

const FILES = ['results.jsonl', 'result.json', 'rollouts.jsonl'] as const;
const contentOf = (dir: string): string[] => FILES.map((file) => readFileSync(join(dir, file), 'utf8'));
const linesOf = (dir: string, file: (typeof FILES)[number]): Record<string, unknown>[] =>
  readFileSync(join(dir, file), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

describe('an evaluation', () => {
  it('scores every question, keeps what was said, and reads back as it was', async () => {
    const dir = folder();
    const result = await take(dir, await examinee('rag', retrieverOf()));
    expect(result).toMatchObject({ expected: 300, complete: true });
    expect(result.items.map(({ em }) => em)).toEqual(Array.from({ length: 300 }, (_, i) => (i % 2 === 0 ? 1 : 0)));
    expect(result.items[7]).toMatchObject({ id: 'nq_7', prediction: 'value 7', searches: 1, stop: 'answer' });
    expect(await readEvaluation(dir)).toEqual(result);
    const rollouts = linesOf(dir, 'rollouts.jsonl');
    expect(rollouts.map(({ id }) => id)).toEqual(exam.questions.map(({ id }) => id));
    expect(rollouts[7]).toMatchObject({
      set: 'nq',
      question: 'What is number 7?',
      prediction: 'value 7',
      turns: [
        { kind: 'search', text: expect.stringContaining('about What is number 7?') },
        { kind: 'prompt', text: expect.stringContaining('Question: What is number 7?') },
        { kind: 'reply', text: '<think>hm</think><answer>value 7</answer>' },
      ],
    });
  });

  it('taken again asks nothing and writes the same bytes', async () => {
    const dir = folder();
    await take(dir, await examinee('search', retrieverOf()));
    const before = contentOf(dir);
    expect(before[2]).not.toContain('logprobs');
    const retriever = retrieverOf();
    await take(dir, await examinee('search', retriever));
    expect(retriever.queries).toEqual([]);
    expect(contentOf(dir)).toEqual(before);
  });

  it.each(['search', 'rag'] as const)('killed at random moments and taken again is the same: %s', async (strategy) => {
    const dir = folder();
    const delay = rng('kill', strategy);
    const file = join(dir, 'journal.jsonl');
    const size = (): number => (existsSync(file) ? statSync(file).size : 0);
    let killedInside = 0;
    for (let kill = 0; kill < 2; kill++) {
      const program = ['--import', 'tsx', join(import.meta.dirname, 'exam.ts'), dir, strategy satisfies StrategyName];
      const child = spawn(process.execPath, program, { stdio: 'inherit' });
      const exit = once(child, 'exit');
      const before = size();
      while (child.exitCode === null && size() === before) await sleep(2);
      await sleep(delay.uniform() * 30);
      child.kill('SIGKILL');
      await exit;
      if (size() > 0 && !existsSync(join(dir, 'result.json'))) killedInside++;
    }
    expect(killedInside).toBeGreaterThan(0);
    await take(dir, await examinee(strategy, retrieverOf()));
    const unbroken = folder();
    await take(unbroken, await examinee(strategy, retrieverOf()));
    expect(contentOf(dir)).toEqual(contentOf(unbroken));
  });

  it('stopped between two batches goes on', async () => {
    const dir = folder();
    const stop = new AbortController();
    stop.abort();
    await expect(take(dir, await examinee('rag', retrieverOf()), stop.signal)).rejects.toThrow('stopped');
    expect((await take(dir, await examinee('rag', retrieverOf()))).complete).toBe(true);
  });

  it('in another way is another evaluation', async () => {
    const dir = folder();
    await take(dir, await examinee('rag', retrieverOf()));
    await expect(async () => take(dir, await examinee('rag', retrieverOf(), 5))).rejects.toThrow(
      'config.topK: 3 there, 5 now',
    );
    await expect(async () => take(dir, await examinee('cot', retrieverOf()))).rejects.toThrow(
      'config.strategy: "rag" there, "cot" now',
    );
  });
});

describe('an outage', () => {
  /** Search of these numbers fails while `down` holds. */
  function flaky(numbers: readonly number[], down: () => boolean) {
    const inner = retrieverOf();
    return {
      ...inner,
      search: async (queries: readonly string[], k: number) => {
        const hit = numbers.some((n) => queries.includes(`What is number ${n}?`));
        const found = await inner.search(queries, k);
        if (hit && down()) throw new InfraError('search answered 503');
        return found;
      },
    };
  }

  it('that passes costs nothing: what it took is tried again at the end', async () => {
    const dir = folder();
    let failures = 1;
    const retriever = flaky([70], () => failures-- > 0);
    const result = await take(dir, await examinee('rag', retriever));
    // One call for the batch of 64: all of it was lost, and only it is asked again.
    expect(retriever.queries.length).toBe(300 + 64);
    expect(retriever.queries.slice(300)).toEqual(retriever.queries.slice(64, 128));
    expect(result.complete).toBe(true);
    const unbroken = folder();
    await take(unbroken, await examinee('rag', retrieverOf()));
    expect(contentOf(dir)).toEqual(contentOf(unbroken));
  });

  it('that stays is reported apart and never scored; running again tries just those', async () => {
    const dir = folder();
    let down = true;
    const retriever = flaky([70], () => down);
    const result = await take(dir, await examinee('rag', retriever));
    const lost = result.items.filter(({ stop }) => stop === 'error');
    expect(lost.map(({ id }) => id)).toEqual(exam.questions.slice(64, 128).map(({ id }) => id));
    expect(lost[0]).toMatchObject({ prediction: null, error: 'search answered 503' });
    expect(result.complete).toBe(false);
    expect(JSON.parse(readFileSync(join(dir, 'result.json'), 'utf8'))).toMatchObject({
      complete: false,
      summary: { n: 236, failed: 64, micro: { em: { point: 0.5 } } },
    });
    expect(retriever.queries.length).toBe(300 + 2 * 64);

    // The same process makes two passes; each later one again two.
    retriever.queries.length = 0;
    await take(dir, await examinee('rag', retriever));
    expect(retriever.queries.length).toBe(2 * 64);

    down = false;
    retriever.queries.length = 0;
    const healed = await take(dir, await examinee('rag', retriever));
    expect(retriever.queries).toEqual(exam.questions.slice(64, 128).map(({ question }) => question));
    expect(healed.complete).toBe(true);
    const unbroken = folder();
    await take(unbroken, await examinee('rag', retrieverOf()));
    expect(contentOf(dir)).toEqual(contentOf(unbroken));
  });
});

describe('what an evaluation is', () => {
  it('is in its fingerprint', async () => {
    expect(fingerprintOf(await examinee('search', retrieverOf()), exam)).toEqual({
      policy: 'base',
      engine: 'scripted',
      strategy: 'search search-r1',
      index: 'namesake',
      topK: 3,
      turns: 3,
      maxTokens: 200,
      decoding: 'greedy',
      manifest: exam.hash,
      questions: 300,
    });
    expect(fingerprintOf(await examinee('cot', retrieverOf()), exam)).toMatchObject({ strategy: 'cot' });
  });

  it('can be limited to the first questions of each set', () => {
    const few = limited(exam, 2);
    expect(few.questions.map(({ id }) => id)).toEqual(['nq_0', 'nq_1', 'musique_200', 'musique_201']);
    expect(few.hash).not.toBe(exam.hash);
    expect(limited(exam, undefined)).toBe(exam);
  });

  it('asks small models for short replies', () => {
    const general = scriptedTokenizer([]);
    const lengths = [384, 4096, 131_072].map((contextLength) =>
      defaultMaxTokens({ tokenizer: general, contextLength }),
    );
    expect(lengths).toEqual([64, 512, 512]);
    expect(defaultMaxTokens({ tokenizer: scriptedTokenizer(CLOZE_TAGS), contextLength: 384 })).toBe(20);
    expect(defaultMaxTokens({ tokenizer: scriptedTokenizer(COMPACT_TAGS), contextLength: 320 })).toBe(24);
  });
});
