import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { describe, expect, it } from 'vitest';
import { cleanGold } from '../../src/benchmark/load/gold.ts';
import { loadQuestions } from '../../src/benchmark/load/questions.ts';
import { openRows } from '../../src/benchmark/load/rows.ts';
import { jsonElements } from '../../src/util/json-elements.ts';
import { folder } from '../store/folder.ts';

function file(name: string, content: string | Uint8Array): string {
  const path = join(folder(), name);
  writeFileSync(path, content);
  return path;
}

async function rowsOf(path: string) {
  const { container, rows } = await openRows(path);
  const out: unknown[] = [];
  for await (const { row } of rows) out.push(row);
  return { container, rows: out };
}

const lines = (...rows: readonly unknown[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join('');

const paragraph = { idx: 0, title: 'Arno', paragraph_text: 'A river, in "Tuscany" [Italy].', is_supporting: true };
const context = [['Arno', ['A river.', ' In Tuscany.']]];
const popqa = [
  'id\tsubj\tprop\tobj\ts_pop\tquestion\tpossible_answers',
  '41\tMara Lind\toccupation\tpainter\t12\tWhat is Mara Lind\'s occupation?\t"[""painter"", ""artist""]"',
].join('\n');

/** One question in each upstream form: "Which river?" and what its form is called. */
const forms: readonly (readonly [form: string, name: string, content: string, golden: string[], id: string])[] = [
  [
    'flashrag',
    'a.jsonl',
    lines({ id: 'test_0', question: 'Which river?', golden_answers: ['Arno'], metadata: { hop: 1 } }),
    ['Arno'],
    'nq_test_0',
  ],
  ['nq_open', 'a.jsonl', lines({ question: 'Which river?', answer: ['Arno', 'the Arno'] }), ['Arno', 'the Arno'], ''],
  [
    'hotpotqa',
    'a.json',
    JSON.stringify([
      {
        _id: '5a8',
        question: 'Which river?',
        answer: 'Arno',
        type: 'bridge',
        level: 'hard',
        supporting_facts: [],
        context,
      },
    ]),
    ['Arno'],
    'nq_5a8',
  ],
  [
    '2wikimultihopqa',
    'a.json',
    JSON.stringify(
      [
        {
          _id: 'b08',
          type: 'comparison',
          question: 'Which river?',
          context,
          evidences: [['a', 'b', 'c']],
          answer: 'Arno',
        },
      ],
      null,
      4,
    ),
    ['Arno'],
    'nq_b08',
  ],
  [
    'musique',
    'a.jsonl',
    lines({
      id: '2hop__1_2',
      paragraphs: [paragraph],
      question: 'Which river?',
      question_decomposition: [{ id: 1 }, { id: 2 }],
      answer: 'Arno',
      answer_aliases: ['Arno River'],
      answerable: true,
    }),
    ['Arno', 'Arno River'],
    'nq_2hop__1_2',
  ],
  ['popqa', 'a.tsv', popqa.replace(/What is .*\?/, 'Which river?'), ['painter', 'artist'], 'nq_41'],
  [
    'triviaqa',
    'a.json',
    JSON.stringify(
      {
        Data: [
          {
            Answer: { Aliases: ['Arno', 'Arno River'], NormalizedAliases: ['arno'], Value: 'Arno' },
            Question: 'Which river?',
            QuestionId: 'tc_1',
            SearchResults: [{ Title: 'x' }],
          },
        ],
        Domain: 'unfiltered',
      },
      null,
      2,
    ),
    ['Arno', 'Arno River'],
    'nq_tc_1',
  ],
  ['question-answer', 'a.csv', '\uFEFFQuestion,Answer\r\n"Which river?",Arno\r\n', ['Arno'], ''],
  ['question-answer', 'a.jsonl', lines({ idx: 1, question: 'Which river?', answer: 'Arno' }), ['Arno'], 'nq_1'],
];

describe('upstream forms', () => {
  it.each(forms)('%s (%s) is known by its content, packed or not', async (form, name, content, golden, id) => {
    const plain = file(name, content);
    const { questions, report } = await loadQuestions(plain, { set: 'nq' });
    expect(report.form).toBe(form);
    expect(questions).toHaveLength(1);
    expect(questions[0]).toMatchObject({ set: 'nq', question: 'Which river?', golden });
    if (id !== '') expect(questions[0]!.id).toBe(id);
    else expect(questions[0]!.id).toMatch(/^nq_[0-9a-f]{16}$/);
    // Neither the name nor the ending matters.
    const packed = file('b', gzipSync(content));
    expect((await loadQuestions(packed, { set: 'nq' })).questions).toEqual(questions);
  });

  it('keeps what an audit by kind needs', async () => {
    const metadata = async (i: number) =>
      (await loadQuestions(file('a', forms[i]![2]), { set: 'nq' })).questions[0]!.metadata;
    expect(await metadata(0)).toEqual({ hop: 1 });
    expect(await metadata(2)).toEqual({ upstream_id: '5a8', type: 'bridge', level: 'hard' });
    expect(await metadata(4)).toEqual({ upstream_id: '2hop__1_2', answerable: true, hops: 2 });
    expect(await metadata(5)).toMatchObject({ upstream_id: '41', subj: 'Mara Lind', s_pop: '12' });
  });

  it('reads Parquet with the columns of the hub, lists and structs included', async () => {
    const flashrag = parquetWriteBuffer({
      columnData: [
        { name: 'id', data: ['test_0', 'test_1'], type: 'STRING' },
        { name: 'question', data: ['Which river?', 'Which sea?'], type: 'STRING' },
        { name: 'golden_answers', data: [['Arno'], ['Baltic', 'Baltic Sea']], type: 'JSON' },
      ],
    });
    const loaded = await loadQuestions(file('test-00000-of-00001.parquet', new Uint8Array(flashrag)), { set: 'nq' });
    expect(loaded.report).toMatchObject({ form: 'flashrag', container: 'parquet', rows: 2 });
    expect(loaded.questions.map(({ golden }) => golden)).toEqual([['Arno'], ['Baltic', 'Baltic Sea']]);
    const popqaFile = parquetWriteBuffer({
      columnData: [
        { name: 'id', data: [7n], type: 'INT64' },
        { name: 'question', data: ['Which river?'], type: 'STRING' },
        { name: 'possible_answers', data: ['["Arno", "the Arno"]'], type: 'STRING' },
      ],
    });
    const popqaLoaded = await loadQuestions(file('p', new Uint8Array(popqaFile)), { set: 'popqa' });
    expect(popqaLoaded.questions).toMatchObject([{ id: 'popqa_7', golden: ['Arno', 'the Arno'] }]);
    expect(popqaLoaded.report.notes).toEqual({});
  });

  it('a damaged Parquet file is a message', async () => {
    const bytes = new Uint8Array([0x50, 0x41, 0x52, 0x31, 1, 2, 3, 4, 5, 6, 7, 8]);
    await expect(loadQuestions(file('x.parquet', bytes), { set: 'nq' })).rejects.toThrow(
      /not a Parquet file, or damaged/,
    );
  });

  it('an unknown form names the fields, and --form must exist', async () => {
    const path = file('a.jsonl', lines({ id: 1, problem: 'x', solution: 'y' }));
    await expect(loadQuestions(path, { set: 'nq' })).rejects.toThrow(
      /a\.jsonl:1: no form .* fields id, problem, solution/,
    );
    await expect(loadQuestions(path, { set: 'nq', form: 'nq' })).rejects.toThrow(
      /--form is "nq"; expected one of flashrag/,
    );
  });
});

describe('questions', () => {
  it('gold as a bare string or as JSON text is taken for what it is, and noted', async () => {
    const path = file(
      'a.jsonl',
      lines(
        { id: 'a', question: 'Q1?', golden_answers: ['Paris'] },
        { id: 'b', question: 'Q2?', golden_answers: 'Paris' },
        { id: 'c', question: 'Q3?', golden_answers: '["Paris", "City of Light"]' },
      ),
    );
    const { questions, report } = await loadQuestions(path, { set: 'nq' });
    expect(questions.map(({ golden }) => golden)).toEqual([['Paris'], ['Paris'], ['Paris', 'City of Light']]);
    expect(report.notes).toEqual({ gold_was_bare_string: 1, gold_was_json_text: 1 });
  });

  it('reading clean gold again changes nothing', () => {
    const text = fc.oneof(
      fc.string(),
      fc.array(fc.string()).map((list) => JSON.stringify(list)),
    );
    const gold = fc.oneof(
      text,
      fc.array(
        fc.oneof(
          text,
          text.map((inner) => JSON.stringify([inner])),
        ),
      ),
    );
    fc.assert(
      fc.property(gold, (value) => {
        const { aliases } = cleanGold(value, 'list');
        expect(cleanGold(aliases, 'list').aliases).toEqual(aliases);
      }),
    );
  });

  it('what can be no question of an exam is dropped and counted', async () => {
    const path = file(
      'a.jsonl',
      lines(
        { id: 'a', question: 'Kept?', golden_answers: ['yes', '---', 'yes', 7] },
        { id: 'b', question: '', golden_answers: ['x'] },
        { id: 'c', question: '?!', golden_answers: ['x'] },
        { id: 'd', question: 'No gold?', golden_answers: [] },
        { id: 'e', question: 'Punctuation?', golden_answers: ['---', ')', '—'] },
        { id: 'f', question: 'Null?', golden_answers: null },
        { id: 'g', question: 'Unanswerable?', golden_answers: ['x'], answerable: false },
        { id: 'a', question: 'Kept?', golden_answers: ['yes', '---', 'yes', 7] },
        { id: 'a', question: 'Another?', golden_answers: ['z'] },
      ),
    );
    const { questions, report } = await loadQuestions(path, { set: 'nq' });
    expect(questions.map(({ id, golden }) => [id, golden])).toEqual([
      ['nq_a', ['yes', '7']],
      ['nq_a~2', ['z']],
    ]);
    expect(report).toMatchObject({
      rows: 9,
      dropped: { no_question: 2, no_gold: 3, unanswerable: 1, duplicate: 1 },
      notes: { id_renamed: 1 },
    });
    expect(report.example).toMatch(/a\.jsonl:2: no_question$/);
  });

  it('ids that are made do not depend on the order of rows', async () => {
    const rows = [
      { question: 'Q1?', answer: ['a'] },
      { question: 'Q2?', answer: ['b'] },
      { question: 'Q1?', answer: ['another'] },
    ];
    const ids = async (list: readonly unknown[]) =>
      (await loadQuestions(file('a', lines(...list)), { set: 'nq' })).questions.map(({ id }) => id).sort();
    expect(await ids(rows)).toEqual(await ids([...rows].reverse()));
    expect(new Set(await ids(rows)).size).toBe(3);
  });

  it('rows that name their set keep their ids', async () => {
    const path = file('a', lines({ id: '2wiki_7', dataset: '2wiki', question: 'Q?', golden_answers: ['x'] }));
    const { questions } = await loadQuestions(path, { set: 'nq' });
    expect(questions).toMatchObject([{ id: '2wiki_7', set: '2wikimultihopqa' }]);
  });

  it.each([
    ['an empty file', '', /the file is empty/],
    ['prose', 'Hello world', /neither JSON Lines/],
    ['a list that is cut', '[{"question": "Q?", "answer": ["a"]}, {"que', /cut short/],
    ['a bad line', `${lines({ question: 'Q?', answer: ['a'] })}{"question"`, /:2: not JSON/],
    ['a bad element', '[{"question": "Q?", "answer": ["a"]}, {"question": tru}]', /element 2: not JSON/],
    ['an element that is no object', '[["a"]]', /element 1: not an object/],
    ['a short row', 'Question,Answer\nQ?,a,b\n', /expected a heading and as many cells/],
    [
      'a packed file that is cut',
      gzipSync(lines({ question: 'Q?', answer: ['a'] }).repeat(50)).subarray(0, 60),
      /cut short/,
    ],
    ['gold everywhere missing', lines({ question: 'Q?', answer: ['--'] }), /none of 1 rows is a question with gold/],
  ])('%s is a message', async (_, content, message) => {
    await expect(loadQuestions(file('a', content), { set: 'nq' })).rejects.toThrow(message);
  });

  it('a file that is not there is a message', async () => {
    await expect(loadQuestions('/no/such/file', { set: 'nq' })).rejects.toThrow('/no/such/file: it does not exist');
  });
});

describe('containers', () => {
  it('texts by id, as prediction files have them, are rows', async () => {
    const path = file('p.json', JSON.stringify({ q1: 'Paris', q2: 'Rome' }, null, 1));
    expect(await rowsOf(path)).toEqual({
      container: 'json-object',
      rows: [
        { id: 'q1', prediction: 'Paris' },
        { id: 'q2', prediction: 'Rome' },
      ],
    });
  });

  it('one object on its own is one row, however it is written', async () => {
    const row = { id: 'a', prediction: 'Paris', steps: ['x'] };
    expect((await rowsOf(file('a', JSON.stringify(row)))).rows).toEqual([row]);
    expect((await rowsOf(file('a', JSON.stringify(row, null, 2)))).rows).toEqual([row]);
  });

  it('rows inside an object on one line are found', async () => {
    const content = JSON.stringify({ Data: [{ a: 1 }, { a: 2 }], Version: 1 });
    expect(await rowsOf(file('a', content))).toEqual({ container: 'json-object', rows: [{ a: 1 }, { a: 2 }] });
  });

  it('quotes in unquoted cells stay', async () => {
    const path = file('a.tsv', 'id\tquestion\n1\tWho said "no"?\n2\tWho wrote "Emma" and "Persuasion"?\n');
    expect((await rowsOf(path)).rows).toEqual([
      { id: '1', question: 'Who said "no"?' },
      { id: '2', question: 'Who wrote "Emma" and "Persuasion"?' },
    ]);
  });
});

describe('elements of an array', () => {
  async function cut(text: string, sizes: readonly number[], inside: 'array' | 'object') {
    const bytes = Buffer.from(text);
    async function* chunks() {
      let at = 0;
      for (let i = 0; at < bytes.length; i++) {
        const size = sizes[i % sizes.length]!;
        yield bytes.subarray(at, at + size);
        at += size;
      }
    }
    const out: unknown[] = [];
    for await (const element of jsonElements(chunks(), inside, 'f')) out.push(JSON.parse(element.toString()));
    return out;
  }

  it('are those of JSON.parse, wherever the chunks end', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.jsonValue({ maxDepth: 3, stringUnit: 'binary' })),
        fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 }),
        fc.constantFrom(undefined, 2),
        async (values, sizes, indent) => {
          const expected = JSON.parse(JSON.stringify(values));
          expect(await cut(JSON.stringify(values, null, indent), sizes, 'array')).toEqual(expected);
          const rows = values.map((value) => ({ value }));
          const inside = JSON.stringify(
            { names: ['x', [1]], deep: { rows: [{}] }, rows, more: [{ y: 1 }] },
            null,
            indent,
          );
          const found = rows.length === 0 ? [{ y: 1 }] : JSON.parse(JSON.stringify(rows));
          expect(await cut(inside, sizes, 'object')).toEqual(found);
        },
      ),
      { numRuns: 150 },
    );
  });
});
