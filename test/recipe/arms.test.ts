/** Which settings make an arm, what it is called, and which runs cannot stand in one report. */
import { describe, expect, it } from 'vitest';
import type { EvolveConfig } from '../../src/recipe/config.ts';
import { armsOf } from '../../src/recipe/seeds/arms.ts';
import { tinyConfig } from '../e2e/tiny.ts';

let made = 0;
function run(over: Partial<EvolveConfig> = {}) {
  const config = tinyConfig({ seed: 1, systems: ['dr-zero'], responses: 5, ...over });
  return { dir: `run${++made}`, config, systems: config.systems, gold: null };
}
const names = (...runs: readonly ReturnType<typeof run>[]): string[] => armsOf(runs).map(({ name }) => name);
const world = tinyConfig().task as Extract<EvolveConfig['task'], { kind: 'world' }>;

describe('armsOf', () => {
  it('names systems alone where settings are equal', () => {
    const runs = [run({ systems: ['dr-zero', 'crossfit'] }), run({ seed: 2 }), run({ systems: ['msv'] })];
    const arms = armsOf(runs);
    expect(arms.map(({ name, suffix, settings }) => [name, suffix, settings])).toEqual([
      ['dr-zero', '', {}],
      ['crossfit', '', {}],
      ['msv', '', {}],
    ]);
    expect(arms.map((arm) => arm.runs)).toEqual([[runs[0], runs[1]], [runs[0]], [runs[2]]]);
  });

  it.each<[Partial<EvolveConfig>, string]>([
    [{ hopMix: '1:1:1:1' }, 'dr-zero, hops 1:1:1:1'],
    [{ formatWeight: 0 }, 'dr-zero, format-weight 0'],
    [{ gate: 'drop' }, 'dr-zero, invalid drop'],
    [{ auxiliarySteps: 4, systems: ['crossfit'] }, 'crossfit, aux-budget 4'],
    [{ sourcePool: 'single-pass', matcher: 'cover' }, 'dr-zero, source-pool single-pass, matcher cover'],
    [{ matcher: 'judge', judge: 'openai:http://a', judgeModel: 'm' }, 'dr-zero, matcher judge, judge-model m'],
  ])('calls %j what its flags are called', (over, name) => {
    expect(names(run(), run(over))).toEqual(['dr-zero', name]);
  });

  it('names responses apart from the estimator only where they do not follow from it', () => {
    expect(names(run(), run({ estimator: 'grpo', responses: 4 }), run({ estimator: 'grpo', responses: 5 }))).toEqual([
      'dr-zero',
      'dr-zero, proposer-estimator grpo',
      'dr-zero, responses 5, proposer-estimator grpo',
    ]);
    expect(names(run({ estimator: 'grpo', responses: 4 }), run())).toEqual([
      'dr-zero',
      'dr-zero, proposer-estimator hrpo',
    ]);
    expect(armsOf([run(), run({ estimator: 'grpo', responses: 4 })])[1]!.settings).toEqual({
      responses: 4,
      estimator: 'grpo',
    });
  });

  it('makes no arm of workers or of where a server is', () => {
    const served = { base: 'b', tokenizer: 't' };
    expect(names(run(), run({ seed: 2, workers: 4 }))).toEqual(['dr-zero']);
    expect(
      names(run({ ...served, engine: 'tinker:http://a' }), run({ ...served, engine: 'tinker:http://b', seed: 2 })),
    ).toEqual(['dr-zero']);
  });

  it.each<[Partial<EvolveConfig>, RegExp]>([
    [{ rounds: 3 }, /^run\d+: --rounds is 3, but in run\d+ it is 2; .* any setting but task, rounds and policy/],
    [{ policy: 'reader' }, /--policy is reader, but in run\d+ it is mini/],
    [{ engine: 'tinker:http://a', base: 'b', tokenizer: 't' }, /--base is b, but in run\d+ it is not set/],
    [{ task: { ...world, miss: 0.5 } }, /--miss is 0.5, but in run\d+ it is 0.03/],
    [{ task: { ...world, seed: 6 } }, /--world-seed is 6, but in run\d+ it is 5/],
    [{ task: { kind: 'docs', path: '/d', gold: 3 } }, /task is docs, but in run\d+ it is world/],
  ])('refuses %j', (over, message) => {
    expect(() => armsOf([run(), run({ ...over, formatWeight: 0 })])).toThrow(message);
  });

  it('refuses an arm and seed twice, and nothing at all', () => {
    expect(() => armsOf([run({ gate: 'drop' }), run(), run()])).toThrow(
      /^run\d+ and run\d+ both hold dr-zero, invalid zero, seed 1; name one of them$/,
    );
    expect(() => armsOf([])).toThrow('no run was named');
  });
});
