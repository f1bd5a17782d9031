import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { runProgram } from '../../src/cli/program.ts';
import { dataPath, haveData } from '../benchmark/shared.ts';
import { folder } from '../store/folder.ts';
import { recorded } from './terminal.ts';

async function run(...args: string[]) {
  const { terminal, out, err } = recorded();
  return { code: await runProgram(args, terminal), out: out(), err: err() };
}

async function json(...args: string[]) {
  const { code, out, err } = await run(...args, '--json');
  expect(err.replace(/^Warning: .*\n/gm, '')).toBe('');
  expect(code).toBe(0);
  return JSON.parse(out);
}

function file(name: string, content: string | Uint8Array): string {
  const path = join(folder(), name);
  writeFileSync(path, content);
  return path;
}

const lines = (...rows: readonly unknown[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join('');
const emOf = (scored: { summary: { micro: { em: { point: number } } } }): number => scored.summary.micro.em.point;

const three = [
  { id: 'a', question: 'Q1?', prediction: 'The Arno.', golden_answers: ['Arno'] },
  { id: 'b', question: 'Q2?', prediction: 'in Rome', golden_answers: ['Rome'] },
  { id: 'c', question: 'Q3?', prediction: null, golden_answers: ['Baltic'] },
];

describe('score', () => {
  it('JSON Lines: EM, Cover-EM and F1, and what has no prediction', async () => {
    const path = file('mine.jsonl', lines(...three));
    const { code, out, err } = await run('score', path);
    expect(code).toBe(0);
    expect(err).toBe('Warning: 1 of 3 rows have no prediction; they count as wrong\n');
    expect(out).toMatch(/^mine {2}3 {2}\.333 \[\.000, 1\.000\] {2}\.667 .* \.556 /m);
    const { summary, complete, report } = await json('score', path);
    // F1 of "in rome" against "rome" is 2/3: (1 + 2/3 + 0) / 3.
    expect(summary.micro.f1.point).toBeCloseTo(5 / 9, 12);
    expect({ complete, unanswered: report.unanswered, share: summary.unanswered }).toEqual({
      complete: true,
      unanswered: 1,
      share: 1 / 3,
    });
  });

  it.each([
    ['a JSON array', 'a.json', JSON.stringify(three)],
    ['packed JSON Lines', 'a.jsonl.gz', gzipSync(lines(...three))],
    [
      'CSV',
      'a.csv',
      'id,question,prediction,golden_answers\na,Q1?,The Arno.,Arno\nb,Q2?,in Rome,"[""Rome""]"\nc,Q3?,,Baltic\n',
    ],
    ['TSV', 'a.tsv', 'id\tprediction\tgolden_answers\na\tThe Arno.\tArno\nb\tin Rome\tRome\nc\t\tBaltic\n'],
  ])('%s gives the same', async (_, name, content) => {
    const { summary, report } = await json('score', file(name, content));
    expect(emOf({ summary })).toBeCloseTo(1 / 3, 12);
    expect(report).toMatchObject({ rows: 3, unanswered: 1, notes: {} });
  });

  it('fields by flags, also inside objects and lists', async () => {
    const path = file(
      'a.jsonl',
      lines({ key: 1, out: { pred: 'Arno', runs: [{ text: 'Rome' }] }, ask: { gold: ['Arno'] }, model: 'm' }),
    );
    const fields = ['--id-field', 'key', '--gold-field', 'ask.gold', '--set-field', 'model'];
    expect(emOf(await json('score', path, ...fields, '--prediction-field', 'out.pred'))).toBe(1);
    expect(emOf(await json('score', path, ...fields, '--prediction-field', 'out.runs[0].text'))).toBe(0);
  });

  it.each([
    [
      ['--prediction-field', 'predictoin'],
      /no row has the field "predictoin" \(did you mean prediction\?\).*Its fields: id, question, prediction, golden_answers\. Name one with --prediction-field/,
    ],
    [['--gold-field', 'gold'], /no row has the field "gold".*Name one with --gold-field/],
    [['--set-field', 'model'], /no row has the field "model"/],
    [['--prediction-field', 'a..b'], /no path to a field/],
    [['--questions', 'nowhere.jsonl'], /nowhere\.jsonl: it does not exist/],
    [['--extract', 'best'], /Allowed choices are text, last-answer-tag/],
  ])('%j is a message and exit code 2', async (flags, message) => {
    const { code, out, err } = await run('score', file('mine.jsonl', lines(...three)), ...flags);
    expect([code, out]).toEqual([2, '']);
    expect(err).toMatch(message);
  });

  it.each([
    ['a run', { 'run.json': '{}', 'journal.jsonl': '', 'result.json': '{}', 'results.jsonl': '' }],
    ['predictions of that name', { 'results.jsonl': lines(...three) }],
    ['results of something else', { 'results.jsonl': lines(...three), 'result.json': '{"em":1}' }],
  ])('--out does not write into a folder that holds %s', async (_, files) => {
    const dir = folder();
    for (const [name, content] of Object.entries(files)) writeFileSync(join(dir, name), content);
    const { code, out, err } = await run('score', file('mine.jsonl', lines(...three)), '--out', dir);
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain(`${dir}: is not empty`);
    expect(Object.fromEntries(Object.keys(files).map((name) => [name, readFileSync(join(dir, name), 'utf8')]))).toEqual(
      files,
    );
  });

  it('--out takes a new folder, an empty one, and one of its own again; never a file', async () => {
    const mine = file('mine.jsonl', lines(...three));
    for (const dir of [join(folder(), 'new'), folder()])
      for (const _ of ['first', 'again']) expect((await run('score', mine, '--out', dir)).code).toBe(0);
    const { code, err } = await run('score', mine, '--out', mine);
    expect(code).toBe(2);
    expect(err).toContain(`${mine}: is a file; --out is a folder`);
  });

  it('a folder instead of predictions is a message and exit code 2', async () => {
    const dir = folder();
    const { code, err } = await run('score', dir);
    expect(code).toBe(2);
    expect(err).toContain(`${dir}: is a folder; expected a file`);
  });

  it('a transcript: the last answer of the assistant, never of a tool', async () => {
    const text = '<search>x</search><information><answer>Rome</answer></information><answer>Arno</answer>';
    const messages = [
      { role: 'assistant', content: '<answer>Arno</answer>' },
      { role: 'tool', content: '<answer>Rome</answer>' },
    ];
    const path = file(
      'a.jsonl',
      lines(
        { id: 1, log: text, golden_answers: ['Arno'] },
        { id: 2, log: messages, golden_answers: ['Arno'] },
        { id: 3, log: 'no tag: Arno', golden_answers: ['Arno'] },
      ),
    );
    const scored = await json('score', path, '--prediction-field', 'log', '--extract', 'last-answer-tag');
    expect(emOf(scored)).toBeCloseTo(2 / 3, 12);
    expect(scored.report.unanswered).toBe(1);
  });

  it('metrics in the file that cannot be right are refused', async () => {
    const wrong = lines({ ...three[0], em: 1, f1: 0.4, cover_em: 1 });
    const { code, err } = await run('score', file('a.jsonl', wrong));
    expect(code).toBe(2);
    expect(err).toMatch(/a\.jsonl:1: em_gt_f1: EM above F1/);
    const csv = 'id,prediction,golden_answers,em,f1\na,Arno,Arno,True,0.4\n';
    expect((await run('score', file('a.csv', csv))).err).toContain('em_gt_f1');
    expect((await run('score', file('a.jsonl', lines({ ...three[0], em: 1, f1: 1 })))).code).toBe(0);
  });

  it('a question answered twice is refused', async () => {
    const { code, err } = await run('score', file('a.jsonl', lines(three[0], three[1], three[0])));
    expect(code).toBe(2);
    expect(err).toMatch(/a\.jsonl:3: "a" was answered in \S*a\.jsonl:1 already/);
  });
});

describe('score with a question file', () => {
  const questions = () =>
    file(
      'nq.jsonl',
      lines(
        { id: 'test_1', question: 'Q1?', golden_answers: ['Arno'] },
        { id: 'test_2', question: 'Q2?', golden_answers: ['Rome'] },
        { id: 'test_3', question: 'Q3?', golden_answers: ['Baltic'] },
      ),
    );

  it('joins by id or upstream id, else by text; tells strangers; what is missing makes it incomplete', async () => {
    const path = file(
      'p.jsonl',
      lines(
        { id: 'nq_test_1', prediction: 'Arno' },
        { question: 'Q2?', prediction: 'Paris' },
        { id: 'test_9', prediction: 'x' },
      ),
    );
    const scored = await json('score', path, '--questions', questions());
    expect(scored).toMatchObject({
      expected: 3,
      items: 2,
      complete: false,
      report: { missing: 1, strangers: 1 },
    });
    expect(emOf(scored)).toBe(0.5);
    const { out, err } = await run('score', path, '--questions', questions());
    expect(out).toContain('INCOMPLETE: 1 of 3 without a result. They are in no figure above.');
    expect(err).toContain('1 questions have no prediction at all');
    const strict = await json('score', path, '--questions', questions(), '--missing-is-wrong');
    expect(strict).toMatchObject({ items: 3, complete: true });
    expect(emOf(strict)).toBeCloseTo(1 / 3, 12);
  });

  it('takes predictions by id, as an object of texts', async () => {
    const path = file('p.json', JSON.stringify({ test_1: 'Arno', test_2: 'Rome', test_3: 'North Sea' }, null, 2));
    expect(emOf(await json('score', path, '--questions', questions()))).toBeCloseTo(2 / 3, 12);
  });

  it('says when nothing belongs together', async () => {
    const { code, err } = await run(
      'score',
      file('p.jsonl', lines({ id: 'z', prediction: 'x' })),
      '--questions',
      questions(),
    );
    expect(code).toBe(2);
    expect(err).toContain('None of 1 rows belongs to a question of --questions');
  });
});

describe('compare-evals', () => {
  it('compares two scored files, and refuses files of other questions', async () => {
    const dir = folder();
    const out = (name: string) => join(dir, name);
    const better = three.map((row, i) => ({ ...row, prediction: ['Arno', 'Rome', 'x'][i] }));
    await run('score', file('one.jsonl', lines(...three)), '--out', out('a'), '--set-field', 'id');
    const again = ['score', file('two.jsonl', lines(...better)), '--out', out('b'), '--set-field', 'id'];
    expect((await run(...again)).out).toContain(`Kept in ${out('b')}.`);
    await run('score', file('three.jsonl', lines(...better.slice(1))), '--out', out('c'), '--set-field', 'id');
    const compared = await json('compare-evals', out('a'), out('b'));
    expect(compared.difference.micro.em.point).toBeCloseTo(1 / 3, 12);
    expect(compared.differences.allow).toEqual([{ key: 'predictions', a: 'one.jsonl', b: 'two.jsonl' }]);
    const refused = await run('compare-evals', out('a'), out('c'));
    expect(refused.code).toBe(2);
    expect(refused.err).toMatch(/not made alike: manifest is \w+ in the first and \w+ in the second.*--force/);
    expect((await run('compare-evals', out('a'), out('c'), '--force')).out).toContain('NOT ALIKE: manifest');
    expect((await run('compare-evals', out('a'), out('b'), '--markdown')).out).toContain('| EM | A | B |');
    expect((await run('compare-evals', out('a'), dir)).err).toContain('no evaluation here');
  });
});

describe('manifest', () => {
  const question = (id: number) => ({ id, question: `Q${id}?`, golden_answers: ['x'] });

  it('refuses a set that is missing or too small, unless told', async () => {
    const dir = folder();
    writeFileSync(join(dir, 'nq.jsonl'), lines(...Array.from({ length: 230 }, (_, i) => question(i))));
    writeFileSync(join(dir, 'bamboogle.jsonl'), lines(question(1), { id: 2, question: 'Q?', golden_answers: [')'] }));
    const out = join(dir, 'exam.jsonl');
    const refused = await run('manifest', '--questions', dir, '--out', out);
    expect(refused.code).toBe(2);
    expect(refused.err).toMatch(/lacks some: triviaqa has none of 200, .*bamboogle has 1 of 125/);
    expect(existsSync(out)).toBe(false);
    const made = await run('manifest', '--questions', dir, '--out', out, '--partial');
    expect(made.code).toBe(0);
    expect(made.out).toMatch(/^nq +200 +230 +flashrag /m);
    expect(made.out).toMatch(
      /^bamboogle .* 1 left out \(no gold that can be matched: 1\), for example \S*bamboogle\.jsonl:2$/m,
    );
    expect(made.out).toMatch(/201 questions in \S*exam\.jsonl, hash [0-9a-f]{32}/);
    const bytes = readFileSync(out, 'utf8');
    await run('manifest', '--questions', dir, '--out', out, '--partial');
    expect(readFileSync(out, 'utf8')).toBe(bytes);
  });
});

describe.skipIf(!haveData())('published runs', () => {
  it('FireAct scores EM .430 and .345, as its own file says of every row', async () => {
    const path = dataPath('rollouts/fireact_hotpotqa.jsonl.gz');
    const { summary, report } = await json('score', path, '--set-field', 'model', '--verdict-field', 'em');
    const sets = Object.entries(summary.sets as Record<string, { n: number; em: { point: number } }>).map(
      ([model, { n, em }]) => [model.split('_')[1]!.slice(0, 7), n, em.point.toFixed(3)],
    );
    expect(sets).toEqual([
      ['gpt-3.5', 465, '0.430'],
      ['models', 499, '0.345'],
    ]);
    expect(report.agreement).toEqual({ both: 372, verdictOnly: 0, emOnly: 0, neither: 592, unclear: 0 });
  });

  it('R1-Searcher: EM passes nothing that its judge fails, and 59 rows pass the judge alone', async () => {
    const path = dataPath('rollouts/r1searcher.jsonl.gz');
    const { summary, report } = await json('score', path, '--verdict-field', 'judge_verdict');
    expect(summary.n).toBe(625);
    expect(report.agreement).toEqual({ both: 334, verdictOnly: 59, emOnly: 0, neither: 232, unclear: 0 });
  });
});
