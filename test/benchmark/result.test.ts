import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readEvaluation, writeEvaluation } from '../../src/benchmark/files.ts';
import { metricFault } from '../../src/benchmark/invariant.ts';
import {
  type ExamQuestion,
  evaluationOf,
  type ItemResult,
  type Outcome,
  scoreItem,
} from '../../src/benchmark/result.ts';
import { summarise } from '../../src/benchmark/summary.ts';
import { folder } from '../store/folder.ts';
import { sharedCases } from './shared.ts';

const question = (id: string, set = 'nq', golden: readonly string[] = ['Paris']): ExamQuestion => ({
  id,
  set,
  question: 'Which city?',
  golden,
});
const said = (prediction: string | null, more: Partial<Outcome> = {}): Outcome => ({
  prediction,
  searches: 1,
  stop: 'answer',
  ...more,
});
const outage = said(null, { stop: 'error', error: 'search: connection refused' });

describe('items', () => {
  it('scores a prediction against every alias', () => {
    expect(scoreItem(question('a', 'nq', ['Paris', 'City of Light']), said('the City of Light!'))).toEqual({
      id: 'a',
      set: 'nq',
      question: 'Which city?',
      golden: ['Paris', 'City of Light'],
      prediction: 'the City of Light!',
      em: 1,
      coverEm: 1,
      coverEmToken: 1,
      f1: 1,
      searches: 1,
      stop: 'answer',
    });
    expect(scoreItem(question('a'), said(null, { stop: 'turn-limit' }))).toMatchObject({ em: 0, f1: 0 });
  });

  it('our own scores never break an invariant', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(fc.constantFrom('the', 'a', 'Paris', 'Texas', '1', '!', '-', 'É')).map((w) => w.join(' ')),
    );
    fc.assert(
      fc.property(text, fc.array(text, { minLength: 1, maxLength: 4 }), fc.boolean(), (prediction, golds, copy) => {
        const item = scoreItem(question('a', 'nq', golds), said(copy ? golds[0]! : prediction));
        expect(metricFault(item)).toBeNull();
        expect(item.coverEmToken).toBeLessThanOrEqual(item.coverEm);
        expect(item.em).toBeLessThanOrEqual(item.coverEmToken);
      }),
      { numRuns: 500 },
    );
  });
});

describe('invariants', () => {
  const cases = sharedCases('metric_invariant');
  it.skipIf(cases.length === 0)('shared cases', () => {
    for (const { input, expected } of cases) {
      const items = input.per_item as { em: number; f1: number; cover_em: number }[];
      const faults = items.map(({ em, f1, cover_em }) => metricFault({ em, f1, coverEm: cover_em }));
      const error = faults.find((fault) => fault !== null) ?? null;
      expect({ valid: error === null, error }).toEqual(expected);
    }
  });

  it.each([
    [{ em: 1, f1: 0.4 }, 'em_gt_f1'],
    [{ em: 100, f1: 40 }, 'em_gt_f1'],
    [{ em: 1, coverEm: 0 }, 'em_gt_cover_em'],
    [{ f1: -0.1 }, 'metric_out_of_range'],
    [{ em: Number.NaN }, 'metric_out_of_range'],
    [{ em: 1, coverEm: 1, f1: 1 }, null],
    [{ em: 1 }, null],
    [{ em: 0, f1: 0.4 }, null],
  ])('%j: %s', (metrics, fault) => {
    expect(metricFault(metrics)).toBe(fault);
  });

  it('summarise refuses what breaks them', () => {
    const wrong: ItemResult = { ...scoreItem(question('q7'), said('Paris')), f1: 0.4 };
    expect(() => summarise([wrong])).toThrow(/"q7": em_gt_f1/);
  });
});

describe('figures', () => {
  // nq: 1 of 2; popqa: 1 of 1; musique: 0 of 1, and one lost.
  const items = [
    scoreItem(question('n1'), said('Paris', { searches: 3 })),
    scoreItem(question('n2'), said('in Paris, Texas', { searches: 0 })),
    scoreItem(question('p1', 'popqa'), said('paris')),
    scoreItem(question('m1', 'musique'), said(null, { stop: 'malformed' })),
    scoreItem(question('m2', 'musique'), outage),
  ];

  it('are means of sets, of set means, and of items; a lost item is in none of them', () => {
    const out = summarise(items);
    const em = (figures: { em: { point: number } } | null) => figures!.em.point;
    expect([em(out.sets.nq!), em(out.sets.popqa!), em(out.sets.musique!)]).toEqual([0.5, 1, 0]);
    expect(Object.keys(out.sets)).toEqual(['nq', 'popqa', 'musique']);
    expect([em(out.macro), em(out.micro), em(out.singleHop), em(out.multiHop)]).toEqual([0.5, 0.5, 0.75, 0]);
    expect(out.sets.nq!.coverEm.point).toBe(1);
    // F1 of "in paris texas" against "paris": 2 · 1 / (3 + 1).
    expect(out.sets.nq!.f1.point).toBe(0.75);
    expect(out).toMatchObject({ n: 4, searches: 1.25, unanswered: 0.25, malformed: 0.25, truncated: 0 });
    expect(out).toMatchObject({ failed: 1, failedShare: 0.2 });
  });

  it('have intervals that hold the point and repeat', () => {
    const many = Array.from({ length: 60 }, (_, i) => scoreItem(question(`q${i}`), said(i % 3 === 0 ? 'Paris' : 'x')));
    const { em } = summarise(many).micro!;
    expect(em.point).toBeCloseTo(1 / 3, 12);
    // The normal interval is .333 ± .119.
    expect(Math.abs(em.low - 0.214)).toBeLessThan(0.03);
    expect(Math.abs(em.high - 0.453)).toBeLessThan(0.03);
    expect(summarise(many)).toEqual(summarise(many));
  });

  it('are empty, not wrong, when everything was lost', () => {
    const out = summarise([scoreItem(question('a'), outage)]);
    expect(out).toMatchObject({ n: 0, macro: null, micro: null, sets: {}, failed: 1, failedShare: 1 });
  });
});

describe('evaluations', () => {
  const questions = [question('a'), question('b', 'musique')];
  const a = scoreItem(questions[0]!, said('Paris'));
  const b = scoreItem(questions[1]!, said('Rome'));

  it('are in the order of the manifest, and complete when no question lacks a result', () => {
    const whole = evaluationOf({ topK: 3 }, [b, a], questions);
    expect(whole.items.map(({ id }) => id)).toEqual(['a', 'b']);
    expect(whole.complete).toBe(true);
    expect(evaluationOf({}, [a], questions)).toMatchObject({ expected: 2, complete: false });
    const lost = scoreItem(questions[1]!, outage);
    expect(evaluationOf({}, [a, lost], questions).complete).toBe(false);
  });

  it('refuse a result given twice and a result of no question', () => {
    expect(() => evaluationOf({}, [a, a, b], questions)).toThrow(/"a" twice/);
    expect(() => evaluationOf({}, [a, { ...b, id: 'zz' }], questions)).toThrow(/"zz", which is no question/);
  });

  it('come back from disk as they were, and are the same bytes', async () => {
    const dir = join(folder(), 'new', 'evaluation');
    const evaluation = evaluationOf({ corpus: 'c1', topK: 3 }, [a, scoreItem(questions[1]!, outage)], questions);
    await writeEvaluation(dir, evaluation);
    const bytes = () => ['results.jsonl', 'result.json'].map((name) => readFileSync(join(dir, name), 'utf8'));
    const before = bytes();
    expect(await readEvaluation(dir)).toEqual(evaluation);
    await writeEvaluation(dir, evaluation);
    expect(bytes()).toEqual(before);
  });

  it.each([
    ['a result lost', (lines: string) => lines.split('\n').slice(1).join('\n'), /holds 1 results, .* counts 2 of 2/],
    ['a result twice', (lines: string) => `${lines.split('\n')[0]}\n`.repeat(2), /"a" twice/],
    ['a metric changed', (lines: string) => lines.replace('"em":1', '"em":7'), /results\.jsonl:1: em/],
    ['a torn line', (lines: string) => lines.slice(0, -20), /results\.jsonl:2: not JSON/],
  ])('%s is refused', async (_, damage, message) => {
    const dir = folder();
    await writeEvaluation(dir, evaluationOf({}, [a, b], questions));
    const file = join(dir, 'results.jsonl');
    writeFileSync(file, damage(readFileSync(file, 'utf8')));
    await expect(readEvaluation(dir)).rejects.toThrow(message);
  });

  it('a folder without one is refused', async () => {
    await expect(readEvaluation(folder())).rejects.toThrow(/no evaluation here/);
  });
});
