/** Logs of every form, their fields, what cannot be read in them, and what holds for any log. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { describe, expect, it } from 'vitest';
import { identityGap } from '../../src/method/agreement.ts';
import type { LogAudit } from '../../src/recipe/audit-log/audit.ts';
import { parsePath, valueAt } from '../../src/recipe/audit-log/path.ts';
import { rng } from '../../src/util/rng.ts';
import { fakeJudge, goodReply } from '../auditor/fake-judge.ts';
import { folder } from '../store/folder.ts';
import { audited } from './audited-log.ts';

const HAND = fileURLToPath(new URL('../paper/audit-log.jsonl', import.meta.url));
const rows = readFileSync(HAND, 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Record<string, unknown>);

/** All that does not name the file. */
const figures = ({ file, mapping, ...rest }: LogAudit) => ({ ...rest, counts: { ...rest.counts, rows: 0 } });

const jsonl = (list: readonly unknown[]): string => list.map((row) => `${JSON.stringify(row)}\n`).join('');

function write(name: string, content: string | Uint8Array, dir = folder()): string {
  const file = join(dir, name);
  writeFileSync(file, content);
  return file;
}

function delimited(list: readonly Record<string, unknown>[], by: string): string {
  const names = [...new Set(list.flatMap((row) => Object.keys(row)))];
  const cell = (value: unknown): string => {
    const text = value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value);
    return `"${text.replaceAll('"', '""')}"`;
  };
  return [names.join(by), ...list.map((row) => names.map((name) => cell(row[name])).join(by))].join('\n');
}

const parquet = (list: readonly Record<string, unknown>[]): Uint8Array => {
  const text = (name: string) => ({
    name,
    data: list.map((row) => (row[name] ?? null) as string),
    type: 'STRING' as const,
  });
  const json = (name: string) => ({
    name,
    data: list.map((row) => JSON.stringify(row[name])),
    type: 'STRING' as const,
  });
  const whole = (name: string) => ({
    name,
    data: list.map((row) => BigInt(row[name] as number)),
    type: 'INT64' as const,
  });
  return new Uint8Array(
    parquetWriteBuffer({
      columnData: [
        ...['round', 'step', 'hops'].map(whole),
        ...['source', 'question', 'label', 'gold'].map(text),
        ...['responses', 'matches'].map(json),
      ],
    }),
  );
};

describe('a log', async () => {
  const expected = figures(await audited(HAND));

  it.each([
    ['log.jsonl.gz', gzipSync(jsonl(rows))],
    ['log.json', JSON.stringify(rows, null, 2)],
    ['log.json', JSON.stringify({ Data: rows })],
    ['log.csv', delimited(rows, ',')],
    ['log.tsv.gz', gzipSync(delimited(rows, '\t'))],
    ['log.parquet', parquet(rows)],
  ])('is the same as %s', async (name, content) => {
    expect(figures(await audited(write(name, content)))).toEqual(expected);
  });

  it('may have a row a response', async () => {
    const single = rows.flatMap(({ responses, matches, ...row }) =>
      (responses as unknown[]).map((response, j) => ({ ...row, response, reward: (matches as number[])[j] })),
    );
    const audit = await audited(write('log.jsonl', jsonl(single)), { map: ['response=response', 'reward=reward'] });
    expect(audit.systems[0]!.rounds).toEqual(expected.systems[0]!.rounds);
    expect(audit.counts).toMatchObject({ rows: 28, questions: 9 });
  });

  it('may have its fields anywhere', async () => {
    const nested = rows.map(({ question, label, gold, responses, matches, ...rest }) => ({
      ...rest,
      'prompt.text': question,
      reward_model: { info: [{ gold }], target: [label] },
      samples: (responses as unknown[]).map((answer, j) => ({ answer, ok: (matches as unknown[])[j] })),
    }));
    const audit = await audited(write('log.jsonl', jsonl(nested)), {
      map: [
        ...['question=prompt.text', 'label=reward_model.target', 'reference=reward_model.info[0].gold'],
        ...['responses=samples[].answer', 'matches=samples[].ok'],
      ],
    });
    expect(figures(audit)).toEqual(expected);
  });

  it('does not depend on the order of its rows', async () => {
    for (const draw of [1, 2, 3]) {
      const shuffled = rng('rows', draw).shuffle(rows);
      expect(figures(await audited(write('log.jsonl', jsonl(shuffled))))).toEqual(expected);
    }
  });

  it('may get its references from a question file, by id or by text', async () => {
    const bare = rows.map(({ gold, ...row }, i) => ({ ...row, id: `q${i}` }));
    const log = write('log.jsonl', jsonl(bare));
    const known = rows.filter(({ gold }) => gold !== undefined);
    const byText = write(
      'gold.jsonl',
      jsonl(known.map(({ question, gold }, i) => ({ id: `x${i}`, question, golden_answers: [gold] }))),
    );
    const audit = await audited(log, { references: byText });
    expect(audit.systems).toEqual(expected.systems);
    expect(audit.counts.joinedReferences).toBe(7);
    const byId = write(
      'gold.csv',
      delimited(
        rows.map(({ gold }, i) => ({ id: `q${i}`, question: `${i}?`, reference: gold ?? '' })),
        ',',
      ),
    );
    expect((await audited(log, { references: byId })).systems).toEqual(expected.systems);
  });

  it('without source, step and round has questions as sources, in one step of one round', async () => {
    const bare = rows.map(({ source, step, round, ...row }) => row);
    const audit = await audited(write('log.jsonl', jsonl(bare)));
    expect(audit.systems[0]!.rounds.map(({ round, steps }) => [round, steps.length])).toEqual([['1', 1]]);
    expect(audit.counts.sources).toBe(new Set(rows.map(({ question }) => question)).size);
    expect(audit.systems[0]!.all.judged).toBe(24);
  });

  it('may hold transcripts, whose last answer block counts and whose tool text does not', async () => {
    const transcript =
      '<|im_start|>user\nWrite <answer>Beijing</answer>.<|im_end|>\n<|im_start|>assistant\n<search>q</search>\n<information><answer>Rome</answer></information>\n<answer>Oslo</answer><|im_end|>';
    const messages = [
      { role: 'user', content: 'Where? <answer>Rome</answer>' },
      { role: 'assistant', content: '<think>hm</think><answer>Oslo</answer>' },
      { role: 'tool', content: '<answer>Bergen</answer>' },
    ];
    const row = { question: 'Where?', label: 'Oslo', gold: 'Oslo' };
    const file = write(
      'log.jsonl',
      jsonl([{ ...row, responses: [transcript, messages, 'Oslo', '<information><answer>Oslo</answer>'] }]),
    );
    const audit = await audited(file, { extract: 'last-answer-tag' });
    expect(audit.systems[0]!.all.shares).toMatchObject({ C: 0.5, D: 0.5 });
    expect(audit.counts.unanswered).toBe(2);
  });
});

describe('what cannot be read', () => {
  const good = { question: 'Where?', label: 'Oslo', gold: 'Oslo', responses: ['Oslo'], matches: [1] };
  const bad: readonly (readonly [string, RegExp])[] = [
    ['{"question": "Wh', /:2: not JSON/],
    ['[1]', /:2: not an object/],
    [JSON.stringify({ ...good, label: null }), /:2: label is null; expected an answer/],
    [JSON.stringify({ ...good, question: 3.5, responses: [] }), /:2: responses is \[\]; expected at least one/],
    [JSON.stringify({ ...good, responses: [{ a: 1 }] }), /:2: responses is .*expected texts/],
    [JSON.stringify({ ...good, matches: [0.5] }), /:2: matches is \[0.5\]; expected 0 or 1 for each of 1/],
    [JSON.stringify({ ...good, matches: [1, 0] }), /:2: matches is/],
    [JSON.stringify({ ...good, step: 'NaN' }), /:2: step is "NaN"; expected a finite number or a name/],
    [JSON.stringify({ ...good, round: '-Infinity' }), /:2: round is "-Infinity"; expected a finite number/],
    [JSON.stringify({ ...good, step: 5 }).replace('5', '1e999'), /:2: step is Infinity; expected a finite number/],
    [JSON.stringify({ ...good, hops: 'many' }), /:2: hops is "many"; expected a whole number/],
  ];
  it.each(bad)('%s is left out and told, or is an error under --strict', async (line, message) => {
    const other = { ...good, hops: 1 };
    const file = write('log.jsonl', `${JSON.stringify(other)}\n${line}\n${JSON.stringify(other)}\n`);
    const audit = await audited(file);
    expect(audit.counts).toMatchObject({ rows: 3, skipped: 1, questions: 2 });
    expect(audit.problems).toEqual([expect.stringMatching(message)]);
    await expect(audited(file, { strict: true })).rejects.toThrow(message);
  });

  it.each([
    [
      '{"q": "Where?", "label": "x", "gold": "x", "responses": ["x"]}',
      [],
      /no field for question .*Its fields: q, label, gold, responses\. Say which with --map question=FIELD/,
    ],
    [
      '{"question": "Where?", "golden_answers": ["x"], "pred": "x"}',
      [],
      /no field for label .*--map label=FIELD; a log rewarded by gold/,
    ],
    ['{"question": "Where?", "label": "x"}', [], /no field for responses .*reference/],
    ['{"question": "Where?", "label": "x", "pred": "x"}', [], /--references FILE/],
    ['{}', ['question'], /--map "question": expected meaning=field/],
    ['{}', ['qestion=a'], /unknown meaning "qestion"; did you mean "question"/],
    ['{}', ['question=a..b'], /"a..b" is no path/],
    ['', [], /empty/],
  ])('%s with --map %j says what is missing', async (content, map, message) => {
    await expect(audited(write('log.jsonl', content), { map })).rejects.toThrow(message);
  });
});

describe('a path', () => {
  const row = { a: { b: [{ c: 1 }, { c: 2 }] }, 'a.b': 'whole', text: '{"x": [7]}' };
  it.each([
    ['a', row.a],
    ['a.b', 'whole'],
    ['a.b[1].c', 2],
    ['a.b[].c', [1, 2]],
    ['text.x[0]', 7],
    ['a.z', undefined],
    ['toString', undefined],
    ['a.b[9].c', undefined],
  ])('%s', (path, value) => {
    expect(valueAt(row, parsePath(path))).toEqual(value);
  });
});

describe('any log', () => {
  const answer = fc.constantFrom('Oslo', 'Bergen', 'York', 'the oslo');
  const question = fc.record({
    question: fc.constantFrom('Where?', 'When?', 'Who?'),
    source: fc.constantFrom('a', 'b', 'c'),
    label: answer,
    gold: fc.option(answer, { nil: undefined }),
    responses: fc.array(fc.option(answer), { minLength: 1, maxLength: 4 }),
    round: fc.integer({ min: 1, max: 2 }),
    step: fc.integer({ min: 1, max: 2 }),
    hops: fc.integer({ min: 1, max: 2 }),
  });
  const logs = fc.array(question, { minLength: 1, maxLength: 8 });

  it('has masses that sum to 1, A − T_S = F − L under an exact matcher, and no order', async () => {
    const dir = folder();
    await fc.assert(
      fc.asyncProperty(logs, fc.integer(), async (list, seed) => {
        const map = ['reference=gold'];
        const audit = await audited(write('log.jsonl', jsonl(list), dir), { map });
        const [log] = audit.systems;
        const scopes = [log!.all, ...log!.rounds.flatMap(({ scope, steps }) => [scope, ...steps.map((s) => s.scope)])];
        for (const { shares } of [...scopes, ...log!.byHops.map(({ scope }) => scope)]) {
          if (shares === null) continue;
          const { C, F, L, D, N, X1, X2 } = shares;
          expect(C + F + L + D + N + X1 + X2).toBeCloseTo(1, 12);
          expect([X1, X2]).toEqual([0, 0]);
          expect(identityGap(shares)).toBeCloseTo(0, 12);
        }
        const shuffled = await audited(write('log.jsonl', jsonl(rng('order', seed).shuffle(list)), dir), { map });
        expect(figures(shuffled)).toEqual(figures(audit));
      }),
      { numRuns: 8 },
    );
  }, 20_000);
});

describe('a judge', () => {
  const texts = [
    { id: 'a', title: 'Tram', text: 'The tram is in Oslo since 1921.' },
    { id: 'b', title: 'Mill', text: 'The mill is in Leeds now.' },
    { id: 'unrelated', title: '', text: 'Nothing.' },
  ];
  const log = [
    {
      source: 'a',
      question: 'Where is the tram?',
      label: 'Oslo',
      gold: 'Oslo',
      responses: ['Oslo', 'in Oslo', 'Rome'],
    },
    { source: 'b', question: 'Where is the mill?', label: 'York', gold: 'Leeds', responses: ['York', 'Leeds', 'York'] },
    { source: 'b', question: 'Where is the ship?', label: 'York', responses: ['York'] },
  ];

  it('reports its own error against gold, its score beside the rule, and what it cost', async () => {
    const dir = folder();
    const audit = await audited(write('log.jsonl', jsonl(log), dir), {
      judge: fakeJudge(goodReply),
      sources: write('corpus.jsonl', jsonl(texts), dir),
      cache: join(dir, 'cache'),
    });
    expect(audit.unresolved).toEqual({ 'the source does not settle the question': 1 });
    // "in Oslo" is right, and matches not the label Oslo under the exact matcher.
    expect(audit.systems[0]!.all).toMatchObject({ evaluated: 7, judged: 6 });
    const { shares } = audit.systems[0]!.all;
    expect([shares!.C, shares!.X2, shares!.D, shares!.F, shares!.L]).toEqual([1, 1, 1, 2, 1].map((n) => n / 6));
    // Distinct answers: Oslo, in Oslo, Rome; York, Leeds. The judge passes three, the rule two; gold fails "in Oslo".
    expect(audit.judge).toMatchObject({ answers: 5, judge_score: 0.6, rule_score: 0.4 });
    expect(audit.judge!.againstGold).toMatchObject({ answers: 5, falselyCorrect: 1, falselyIncorrect: 0 });
    // Wilson's interval of 1 of 5.
    const { error, references } = audit.judge!.againstGold!;
    expect([error.point, error.low, error.high].map((x) => Number(x.toFixed(4)))).toEqual([0.2, 0.0362, 0.6245]);
    expect(references.point).toBe(1);
    // Three references and two gradings; the self-test is not counted.
    expect(audit.judge!.cost).toEqual({
      requests: 5,
      cached: 0,
      unreadable: 0,
      promptTokens: 500,
      completionTokens: 50,
    });
    expect(existsSync(join(dir, 'cache', 'replies.jsonl'))).toBe(true);
  });

  it('may find the evidence in the log, and may be the matcher too', async () => {
    const dir = folder();
    const own = log.slice(0, 1).map(({ gold, ...row }) => ({ ...row, evidence: texts[0]!.text }));
    const audit = await audited(write('log.jsonl', jsonl(own), dir), { judge: fakeJudge(goodReply), matcher: 'judge' });
    expect(audit.systems[0]!.all.judged).toBe(3);
    expect(audit.judge!.againstGold).toBeNull();
    expect(existsSync(join(dir, 'judge-cache', 'replies.jsonl'))).toBe(true);
  });

  it('is told when the corpus has none of the sources', async () => {
    const dir = folder();
    const corpus = write('corpus.jsonl', jsonl(texts.slice(2)), dir);
    const refused = audited(write('log.jsonl', jsonl(log), dir), { judge: fakeJudge(goodReply), sources: corpus });
    await expect(refused).rejects.toThrow(/has none of the 2 sources of the log/);
  });
});
