import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chosen, fixedManifest, manifestOf } from '../../src/benchmark/manifest.ts';
import { readManifest, writeManifest } from '../../src/benchmark/manifest-file.ts';
import { findQuestionFiles, loadPools } from '../../src/benchmark/pool.ts';
import type { ExamQuestion } from '../../src/benchmark/result.ts';
import { SEVEN, setNamed } from '../../src/benchmark/seven.ts';
import { folder } from '../store/folder.ts';
import { dataPath, haveData } from './shared.ts';

const questionsOf = (set: string, n: number): ExamQuestion[] =>
  Array.from({ length: n }, (_, i) => ({
    id: `${set}_${i}`,
    set,
    question: `Question ${i}?`,
    golden: [`answer ${i}`],
  }));

describe('the seven sets', () => {
  it('are 1,325 questions, three sets single-hop and four multi-hop', () => {
    expect(SEVEN.reduce((sum, { size }) => sum + size, 0)).toBe(1325);
    expect(SEVEN.filter(({ hops }) => hops === 'single').map(({ name }) => name)).toEqual(['nq', 'triviaqa', 'popqa']);
  });
  it.each([
    ['NQ', 'nq'],
    ['nq_open', 'nq'],
    ['HotpotQA', 'hotpotqa'],
    ['2wiki', '2wikimultihopqa'],
    ['2WikiMultiHopQA', '2wikimultihopqa'],
    ['squad', undefined],
  ])('%s is %s', (name, set) => {
    expect(setNamed(name)?.name).toBe(set);
  });
});

describe('the choice', () => {
  it('goes by the SHA-256 of eval200: and the id', () => {
    // printf eval200:q1 | sha256sum begins with 2acc; q2 with 8e93, q3 with acd1, q4 with 357d.
    const four = ['q1', 'q2', 'q3', 'q4'].map((id) => ({ id, set: 'nq', question: 'Q?', golden: ['x'] }));
    expect(chosen(four, 3).map(({ id }) => id)).toEqual(['q1', 'q4', 'q2']);
  });

  it('does not depend on the order of the questions', () => {
    const pool = questionsOf('nq', 300);
    fc.assert(
      fc.property(fc.shuffledSubarray(pool, { minLength: 300 }), (shuffled) => {
        expect(chosen(shuffled, 200)).toEqual(chosen(pool, 200));
      }),
      { numRuns: 20 },
    );
  });

  it('states what is missing or too small', () => {
    const pools = new Map(SEVEN.map(({ name }) => [name as string, questionsOf(name, 210)]));
    pools.delete('popqa');
    pools.set('musique', questionsOf('musique', 7));
    const { manifest, short } = fixedManifest(pools);
    expect(short).toEqual([
      { set: 'popqa', has: 0, needs: 200 },
      { set: 'musique', has: 7, needs: 200 },
    ]);
    expect(manifest.questions).toHaveLength(1325 - 200 - 193);
    expect(manifest.counts.bamboogle).toBe(125);
  });

  it('the hash sees ids, questions, gold and order, not metadata', () => {
    const two = questionsOf('nq', 2);
    const { hash } = manifestOf(two);
    const changed = (change: Partial<ExamQuestion>) => manifestOf([{ ...two[0]!, ...change }, two[1]!]).hash;
    expect(changed({ metadata: { hops: 2 } })).toBe(hash);
    for (const change of [{ id: 'x' }, { set: 'popqa' }, { question: 'x' }, { golden: ['x'] }])
      expect(changed(change)).not.toBe(hash);
    expect(manifestOf([...two].reverse()).hash).not.toBe(hash);
  });
});

describe('the file', () => {
  const write = async (path: string) => {
    const manifest = manifestOf([
      { id: 'nq_1', set: 'nq', question: 'Q1?', golden: ['a', 'b'], metadata: { hops: 1 } },
      { id: 'mine', set: 'my own', question: 'Q2?', golden: ['c'] },
    ]);
    await writeManifest(path, manifest, { reports: [], short: [] });
    return manifest;
  };

  it('comes back as it was, twice the same bytes', async () => {
    const dir = folder();
    const path = join(dir, 'exam.jsonl');
    const manifest = await write(path);
    const bytes = readFileSync(path, 'utf8') + readFileSync(`${path}.about.json`, 'utf8');
    await write(path);
    expect(readFileSync(path, 'utf8') + readFileSync(`${path}.about.json`, 'utf8')).toBe(bytes);
    const { questions, hash, counts } = await readManifest(path);
    expect(questions.map(({ id, set, golden }) => [id, set, golden])).toEqual([
      ['nq_1', 'nq', ['a', 'b']],
      ['mine', 'my own', ['c']],
    ]);
    expect({ hash, counts }).toEqual({ hash: manifest.hash, counts: { nq: 1, 'my own': 1 } });
  });

  it('that was changed since is refused', async () => {
    const path = join(folder(), 'exam.jsonl');
    await write(path);
    writeFileSync(path, readFileSync(path, 'utf8').replace('Q2?', 'Q3?'));
    await expect(readManifest(path)).rejects.toThrow(/it was changed since it was made/);
  });

  it('any other file of questions is read as a manifest, its set named after it', async () => {
    const path = join(folder(), 'HotpotQA.jsonl');
    writeFileSync(path, '{"_id":"5a","question":"Q?","answer":"x","type":"bridge"}\n');
    expect((await readManifest(path)).questions).toMatchObject([{ id: 'hotpotqa_5a', set: 'hotpotqa' }]);
  });
});

describe('question files', () => {
  const line = (id: string) => `{"id":"${id}","question":"Q ${id}?","golden_answers":["x"]}\n`;

  it('are found by the names of the sets; named ones take their place and are pooled', async () => {
    const dir = folder();
    writeFileSync(join(dir, 'nq.jsonl'), line('a'));
    writeFileSync(join(dir, 'readme.md'), 'x');
    writeFileSync(join(dir, 'extra.jsonl'), line('b'));
    mkdirSync(join(dir, 'hotpotqa'));
    writeFileSync(join(dir, 'hotpotqa', 'validation-00000-of-00002.jsonl'), line('c'));
    writeFileSync(join(dir, 'hotpotqa', 'validation-00001-of-00002.jsonl'), line('d'));
    const given = [
      `hotpotqa=${join(dir, 'hotpotqa')}`,
      dir,
      `nq=${join(dir, 'nq.jsonl')}`,
      `NQ=${join(dir, 'extra.jsonl')}`,
    ];
    const { bySet } = await loadPools(await findQuestionFiles(given));
    expect([...bySet].map(([set, pool]) => [set, pool.map(({ id }) => id)])).toEqual([
      ['nq', ['nq_a', 'nq_b']],
      ['hotpotqa', ['hotpotqa_c', 'hotpotqa_d']],
    ]);
  });

  it('two named after one set, and two splits, are refused', async () => {
    const dir = folder();
    writeFileSync(join(dir, 'nq.jsonl'), line('a'));
    writeFileSync(join(dir, 'nq_open.jsonl'), line('b'));
    await expect(findQuestionFiles([dir])).rejects.toThrow(/Several files are named after nq/);
    mkdirSync(join(dir, 'popqa'));
    for (const name of ['test.jsonl', 'train.jsonl']) writeFileSync(join(dir, 'popqa', name), line('a'));
    await expect(findQuestionFiles([`popqa=${join(dir, 'popqa')}`])).rejects.toThrow(/several splits \(test, train\)/);
    await expect(findQuestionFiles(['squad=x'])).rejects.toThrow(/no set is called "squad"/);
    await expect(findQuestionFiles([join(dir, 'none')])).rejects.toThrow(/does not exist/);
  });
});

describe.skipIf(!haveData())('real questions', () => {
  it('the manifest is that of eval200, in every set whose pool is the same', async () => {
    const given = [dataPath('questions'), `2wiki=${dataPath('questions/eval200/2wikimultihopqa.jsonl')}`];
    const { manifest, short } = fixedManifest((await loadPools(await findQuestionFiles(given))).bySet);
    expect(short).toEqual([]);
    const published = SEVEN.flatMap(({ name }) =>
      readFileSync(dataPath(`questions/eval200/${name}.jsonl`), 'utf8')
        .trim()
        .split('\n')
        .map((row) => JSON.parse(row) as { id: string; question: string; golden_answers: string[] }),
    );
    expect(manifest.questions.map(({ id, question, golden }) => ({ id, question, golden }))).toEqual(
      published.map(({ id, question, golden_answers }) => ({ id, question, golden: golden_answers })),
    );
    expect(manifest.hash).toBe('f3f9585f5b3ce7dd7f2c2b9780467971');
  });

  // Rows and questions that each holds: SOURCES.md says which lack gold or context.
  it.each([
    ['raw/nq/NQ-open.dev.jsonl', 'nq_open', 3610, 3608],
    ['raw/nq/NQ-open.efficientqa.dev.1.1.sample.jsonl', 'nq_open', 100, 100],
    ['raw/nq/flashrag_nq_test_1000.jsonl', 'flashrag', 1000, 998],
    ['raw/nq/flashrag_quickstart_test.jsonl', 'flashrag', 17, 17],
    ['raw/triviaqa/flashrag_triviaqa_test_1000.jsonl', 'flashrag', 1000, 1000],
    ['raw/triviaqa/triviaqa_sample.json', 'triviaqa', 1, 1],
    ['derived/triviaqa/triviaqa_unfiltered_shape_200.json', 'triviaqa', 200, 200],
    ['raw/popqa/flashrag_popqa_test_1000.jsonl', 'flashrag', 1000, 1000],
    ['raw/popqa/popqa_1000_with_paragraphs.json.gz', 'popqa', 1000, 1000],
    ['derived/popqa/popQA_1000.tsv', 'popqa', 1000, 1000],
    ['raw/hotpotqa/hotpot_dev_distractor_500.jsonl.gz', 'hotpotqa', 500, 500],
    ['raw/hotpotqa/hotpot_dev_v1_simplified.json.gz', 'hotpotqa', 7405, 7404],
    ['raw/hotpotqa/hotpotqa_train_100.json', 'hotpotqa', 100, 100],
    ['derived/hotpotqa/hotpot_dev_distractor_first40_array.json', 'hotpotqa', 40, 40],
    ['raw/2wikimultihopqa/benchfortir_2wiki_200_aliases.jsonl', 'nq_open', 200, 200],
    ['raw/2wikimultihopqa/r1searcher_2wiki_500.jsonl', 'question-answer', 500, 500],
    ['raw/2wikimultihopqa/migres_2wiki_200.jsonl', '2wikimultihopqa', 200, 200],
    ['derived/2wikimultihopqa/2wiki_dev_164_array.json', '2wikimultihopqa', 164, 164],
    ['raw/musique/musique_ans_dev_200.jsonl.gz', 'musique', 200, 200],
    ['raw/musique/musique_train_100.json.gz', 'musique', 100, 100],
    ['raw/musique/r1searcher_musique_500.jsonl', 'question-answer', 500, 500],
    ['derived/musique/musique_ans_dev_first30.jsonl', 'musique', 30, 30],
    ['raw/bamboogle/flashrag_bamboogle_test_125.jsonl', 'flashrag', 125, 125],
    ['raw/bamboogle/r1searcher_bamboogle.jsonl', 'question-answer', 125, 125],
    ['raw/bamboogle/simpledeepsearcher_bamboogle.json', 'nq_open', 125, 125],
    ['raw/corpora/hipporag_sample.json', 'nq_open', 1, 1],
    ['questions/2wikimultihopqa_hipporag.jsonl', 'flashrag', 711, 711],
    ['questions/hotpotqa_train.jsonl', 'flashrag', 100, 100],
    ['questions/musique_train.jsonl', 'flashrag', 100, 100],
  ])('%s is %s: %i rows, %i questions', async (name, form, rows, questions) => {
    const found = await readManifest(dataPath(name));
    expect([found.report.form, found.report.rows, found.questions.length]).toEqual([form, rows, questions]);
  });
});
