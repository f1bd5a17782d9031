import { describe, expect, it } from 'vitest';
import { compact } from '../../src/text/dialect/compact.ts';
import { LONGEST_EXAMPLE, miniExamples } from '../../src/train/pretrain/mini-examples.ts';
import type { Hops } from '../../src/types.ts';
import { rng } from '../../src/util/rng.ts';
import { parseQuestion, truth } from '../../src/world/question.ts';
import { HABITS, type Habits, proposerSteps, type Step, solverSteps, stepPieces } from '../../src/world/teacher.ts';
import { drill, traceOf } from '../../src/world/trace.ts';
import { encodeWords, VOCABULARY } from '../../src/world/vocabulary.ts';
import { generateWorld, type World } from '../../src/world/world.ts';

const ALL_HOPS: readonly Hops[] = [1, 2, 3, 4];
const FAULTLESS: Habits = { ...HABITS, trustFirst: 0, slip: 0, misask: 0, stumble: 0 };
const world = generateWorld({ seed: 21 });
const clear = generateWorld({ seed: 22, unverifiable: 0, firstRank: 1, miss: 0 });

const decodeWords = (ids: readonly number[]): string => ids.map((id) => VOCABULARY[id]).join(' ');
const text = (step: Step): string => decodeWords(encodeWords(stepPieces(step)));
const turns = (steps: readonly Step[]) => steps.flatMap((s) => (s.kind === 'said' ? [s] : []));
const asked = (steps: readonly Step[]): string => text(steps[0]!).replace('<solve> ', '');

function right(w: World, role: 'solver' | 'proposer', hops: Hops, habits: Habits, n: number): number {
  let count = 0;
  for (let i = 0; i < n; i++) {
    const steps = (role === 'solver' ? solverSteps : proposerSteps)(w, rng(role, hops, i), hops, habits);
    const { action } = turns(steps).at(-1)!.turn;
    const question = action.type === 'propose' ? action.question : asked(steps);
    count += (action.type === 'propose' ? action.answer : action.text) === truth(w, question) ? 1 : 0;
  }
  return count / n;
}

describe('teacher traces', () => {
  it('parse back, turn by turn, to what was done', () => {
    for (const hops of ALL_HOPS)
      for (let i = 0; i < 100; i++) {
        const r = rng('parse', hops, i);
        for (const role of ['solver', 'proposer'] as const) {
          const steps = (role === 'solver' ? solverSteps : proposerSteps)(world, r, hops);
          const question = role === 'solver' ? asked(steps) : null;
          for (const { turn, learn } of turns(steps).filter((t) => t.learn)) {
            const parsed = compact.parse(text({ kind: 'said', turn, learn }), { reason: 'stop' }, question);
            expect(parsed.formatOk).toBe(true);
            expect(parsed.thinking).toBe(turn.thinking);
            expect(parsed.action).toMatchObject(turn.action);
          }
        }
      }
  });
  it('restate the remaining chain; the entity and its relation come last and are read next', () => {
    const steps = solverSteps(clear, rng('think'), 3, FAULTLESS);
    const chain = parseQuestion(asked(steps))!.relations.map((r) => r.wordings[0]);
    const [a, b, c] = chain as [string, string, string];
    const [e0, e1, e2] = turns(steps).map((t) => ('text' in t.turn.action ? t.turn.action.text : ''));
    const expected = [`${c} ${b} ${a}`, `${c} ${b} ${e0} ${a}`, `${c} ${e1} ${b}`, `${e2} ${c}`];
    expect(turns(steps).map((t) => t.turn.thinking)).toEqual(expected);
    expect(turns(steps).map((t) => t.turn.action.type)).toEqual(['search', 'search', 'search', 'answer']);
  });
  it('search h − 1 times as proposer and state relation and value before the question', () => {
    for (const hops of ALL_HOPS) {
      const said = turns(proposerSteps(clear, rng('shape', hops), hops, FAULTLESS)).map((t) => t.turn);
      const last = said.at(-1)!;
      expect(said).toHaveLength(hops);
      if (last.action.type !== 'propose') throw new Error('the last turn must propose');
      const relations = parseQuestion(last.action.question)!.relations;
      expect(relations).toHaveLength(hops);
      expect(last.thinking.endsWith(` ${relations.at(-1)!.wordings[0]} ${last.action.answer}`)).toBe(true);
    }
  });
  it('are always right without faults, in a world without noise', () => {
    for (const hops of ALL_HOPS) {
      expect(right(clear, 'solver', hops, FAULTLESS, 200)).toBe(1);
      expect(right(clear, 'proposer', hops, FAULTLESS, 200)).toBe(1);
    }
  });
  it('are right as often as planned: one hop about .58 as solver, .75 as proposer', () => {
    expect(Math.abs(right(world, 'solver', 1, HABITS, 3000) - 0.58)).toBeLessThan(0.06);
    expect(Math.abs(right(world, 'proposer', 1, HABITS, 3000) - 0.75)).toBeLessThan(0.06);
  });
  it('learn what the policy says and nothing else', () => {
    const steps = solverSteps(world, rng('w'), 2, { ...HABITS, stumble: 0 });
    const { tokens, weights } = traceOf(steps);
    const learned = decodeWords(tokens.filter((_, i) => weights[i] === 1));
    expect(learned).toBe(turns(steps).map(text).join(' '));
    expect(tokens).toHaveLength(weights.length);
  });
  it('show an empty call and its notice without learning the call', () => {
    const steps = solverSteps(world, rng('s'), 1, { ...HABITS, stumble: 1 });
    expect(text(steps[1]!)).toMatch(/^<think> \w+ <search> <end>$/);
    expect(text(steps[2]!)).toBe('<results> <notice> </results>');
    const { tokens, weights } = traceOf(steps);
    expect(weights[tokens.indexOf(VOCABULARY.indexOf('<think>'))]).toBe(0);
  });
});

describe('drills', () => {
  it('learn only names that stand on a page shown, each look-up once', () => {
    for (let i = 0; i < 300; i++) {
      const { tokens, weights } = drill(world, rng('drill', i));
      const words = tokens.map((t) => VOCABULARY[t]!);
      const shown = words.slice(0, words.indexOf('<think>')).join(' ');
      const lookups: string[] = [];
      words.forEach((word, at) => {
        if (weights[at] === 0 || weights[at - 1] === 1) return;
        expect(weights.slice(at, at + 3)).toEqual([1, 1, 0]);
        const name = `${word} ${words[at + 1]}`;
        const back = words.slice(0, at).lastIndexOf('<think>');
        const [, family, relation] = words.slice(back + 1, back + 4);
        // Every fact of a page says whose it is.
        expect(shown).toContain(`${family} ${relation} ${name}`);
        lookups.push(words.slice(back + 1, back + 4).join(' '));
      });
      expect(new Set(lookups).size).toBe(lookups.length);
      expect(lookups.length).toBeGreaterThan(2);
    }
  });
});

describe('pre-training examples', () => {
  it('are determined by their arguments and fit the context', () => {
    const take = (key: string, progress: number) => [...miniExamples(key, progress, 300)];
    for (const progress of [0, 0.25, 0.9]) {
      for (const { tokens, weights } of take('a', progress)) {
        expect(tokens.length).toBeLessThanOrEqual(LONGEST_EXAMPLE);
        expect(weights).toHaveLength(tokens.length);
      }
    }
    expect(take('a', 0.9)).toEqual(take('a', 0.9));
    expect(take('a', 0.9)).not.toEqual(take('b', 0.9));
  });
  it('begin with drills and bring in three and four hops after .35', () => {
    const share = (progress: number, test: (words: string) => boolean) => {
      const all = [...miniExamples('stage', progress, 1500)].map((t) => decodeWords(t.tokens));
      return all.filter(test).length / all.length;
    };
    const long = (words: string) =>
      /^<solve>( \w+ of){3}/.test(words) ||
      /^<propose>.*<h[34]> <think> \w+ \w+ \w+ <search> \w+ \w+ <end> <results>/.test(words);
    const solver = (words: string) => words.startsWith('<solve>');
    expect(Math.abs(share(0.1, solver) - 0.2 * 0.6)).toBeLessThan(0.04);
    expect(Math.abs(share(0.3, solver) - 0.5 * 0.6)).toBeLessThan(0.04);
    expect(Math.abs(share(0.9, solver) - 0.88 * 0.6)).toBeLessThan(0.04);
    expect(share(0.34, long)).toBe(0);
    expect(Math.abs(share(0.5, long) - 0.88 * 0.3)).toBeLessThan(0.05);
  });
});
