/** The known traps of the training baselines (method.md section 7). */

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { goldOfFile } from '../../src/recipe/baseline/gold.ts';
import type { BankItem } from '../../src/record.ts';
import { searchR1 } from '../../src/text/dialect/search-r1.ts';
import { demonstration, imitateStep } from '../../src/train/baseline/imitate.ts';
import { keptExamples, sampleStep } from '../../src/train/baseline/sample.ts';
import { getRollouts } from '../../src/train/measure.ts';
import { solverStep } from '../../src/train/solver.ts';
import { openTrainee } from '../../src/train/trainee.ts';
import type { Rollout } from '../../src/types.ts';
import { folder } from '../store/folder.ts';
import { fixture, trainedText } from './baseline-fixture.ts';

const base = { policy: 'base', optimizer: null };
const at = { system: 'search-r1', round: 1, step: 0, auxiliary: null, before: base, age: 0 } as const;
const item = (id: string, question: string, label: string): BankItem => ({ id, question, label, source: id, hops: 1 });
/** Slot, attempt and turn of a request. */
const place = (key: string): number[] => /(\d+)\/(\d+)\/t(\d+)$/.exec(key)!.slice(1).map(Number);
const say = (answer: string): string => `<think>x<answer>${answer}<end>`;

describe('groups of a supervised step', () => {
  it('are slots: the same id and text from two data sets are two groups with two labels', async () => {
    // One asks in 1990, the other in 2020: the policy answers both alike.
    const bank = [item('test_0', 'Who is mayor ?', 'Hale'), item('test_0', 'Who is mayor ?', 'Voss')];
    const { context } = fixture((_, { key }) => say(place(key)[1]! < 2 ? 'Hale' : 'Voss'));
    const record = await solverStep(context, openTrainee(context.engine, context.settings), { ...at, bank });
    expect(record.counts.groups).toBe(2);
    const notes = await getRollouts(context, record.rollouts);
    // 2 of 5 right: (1 − .4)/s and (0 − .4)/s with s² = .3; 3 of 5 right: (1 − .6)/s and (0 − .6)/s.
    const s = Math.sqrt(0.3) + 1e-6;
    const found = (label: string) =>
      notes
        .filter((n) => record.feedback[n.feedback!]!.label === label)
        .map((n) => Math.round(n.advantage! * s * 100) / 100);
    expect(found('Hale')).toEqual([0.6, 0.6, -0.4, -0.4, -0.4]);
    expect(found('Voss')).toEqual([-0.6, -0.6, 0.4, 0.4, 0.4]);
  });

  it('pays for any accepted answer of a gold question', async () => {
    const bank = [{ ...item('q', 'Who ?', 'Lucas Perrin'), aliases: ['Perrin', 'L. Perrin'] }];
    const answers = ['Perrin', 'lucas perrin', 'Luc', 'L Perrin', 'Hale'];
    const { context } = fixture((_, { key }) => say(answers[place(key)[1]!]!));
    const record = await solverStep(context, openTrainee(context.engine, context.settings), { ...at, bank });
    expect(record.feedback[0]!.matches).toEqual([true, true, false, true, false]);
    expect(record.agreement).toBe(0.6);
  });
});

describe('search-r1 in its own markup', () => {
  const END = '<|im_end|>';
  const bank = [item('q', 'Where is the home ?', 'Port Ellow')];
  const limits = { turns: 5, tokensPerTurn: 200, contextLength: 9000, searches: 4 };
  const task = { dialect: searchR1({ stop: [END] }), limits: { proposer: limits, solver: limits } };
  const turns = [
    'let me see',
    '<search>a</search>',
    '<search>b</search>',
    '<search>c</search>',
    '<answer> Port Ellow </answer>',
  ];

  it('corrects an invalid action and goes on; observations and corrections are not trained', async () => {
    const { context, updates } = fixture(
      (_, { key }) => {
        const [, attempt, turn] = place(key);
        return attempt === 0 ? `${turns[turn!]}${END}` : `<answer>no</answer>${END}`;
      },
      { responses: 2 },
      task,
      [END],
    );
    const record = await solverStep(context, openTrainee(context.engine, context.settings), { ...at, bank });
    expect(record.feedback[0]!.matches).toEqual([true, false]);
    const [note] = await getRollouts(context, record.rollouts);
    const kinds = note!.rollout.turns.map((t) => (t.kind === 'search' ? (t.notice ?? 'found') : t.kind));
    expect(kinds).toEqual([
      ...['prompt', 'reply', 'invalid_action', 'reply', 'found', 'reply', 'found', 'reply', 'found', 'reply'],
    ]);
    const shown = note!.text.filter(({ kind }) => kind === 'search').map(({ text }) => text);
    expect(shown[0]).toContain('That turn could not be used');
    expect(shown[1]).toContain('Doc 1 (Title: a)');
    expect(trainedText(context, updates[0]!.data[0]!)).toBe(turns.map((turn) => `${turn}${END}`).join(''));
  });

  it('never takes an answer tag of the prompt for an answer', async () => {
    const prompt = task.dialect.solverPrompt('Where ?').join('');
    const shown = 'For example <answer> Beijing </answer> or <answer> Port Ellow </answer>.';
    const dialect = { ...task.dialect, solverPrompt: () => [`${prompt}\n${shown}\n`] };
    const { context } = fixture(() => `I do not know${END}`, { responses: 2 }, { ...task, dialect }, [END]);
    const record = await solverStep(context, openTrainee(context.engine, context.settings), { ...at, bank });
    expect(record.feedback[0]!.responses).toEqual([null, null]);
    expect(record.reward.mean).toBe(0);
    expect(record.counts.formed).toBe(0);
  });

  it('answers after its fourth search, and is told when it wants a fifth', async () => {
    const limit = (searches: number) => {
      const own = { ...limits, turns: 7, searches };
      return { ...task, limits: { proposer: own, solver: own } };
    };
    const play = async (searches: number): Promise<Rollout> => {
      const { context } = fixture(
        (_, { key }) => `<search>${place(key)[2]}</search>${END}`,
        { responses: 2 },
        limit(searches),
        [END],
      );
      const record = await solverStep(context, openTrainee(context.engine, context.settings), { ...at, bank });
      return (await getRollouts(context, record.rollouts))[0]!.rollout;
    };
    const notices = ({ turns }: Rollout) => turns.flatMap((t) => (t.kind === 'search' ? [t.notice ?? 'found'] : []));
    const four = await play(4);
    expect(notices(four)).toEqual(['found', 'found', 'found', 'found', 'search_limit', 'search_limit']);
    expect([four.searches, four.stop]).toEqual([4, 'turn-limit']);
    // r1: the policy is told that there is no search at all.
    const none = await play(0);
    expect(new Set(notices(none))).toEqual(new Set(['search_limit']));
    expect(none.searches).toBe(0);
  });
});

describe('fine-tuning', () => {
  const bank = [item('p', 'home of Mara Voss ?', 'Fair Mere'), item('q', 'mentor of Mara Voss ?', 'Tobin Hale')];

  it('on demonstrations trains the answer turn alone, by cross-entropy', async () => {
    const { context, updates } = fixture(() => say('Hale'));
    const { dialect } = context.task;
    const examples = bank.map((own) => ({
      item: own,
      rollouts: [demonstration(own, dialect, context.engine.tokenizer, 2000)!],
    }));
    expect(demonstration(bank[0]!, dialect, context.engine.tokenizer, 10)).toBeNull();
    const trainee = openTrainee(context.engine, context.settings);
    const record = await imitateStep(context, trainee, { ...at, system: 'sft', examples });
    expect(updates[0]!.loss).toBe('cross_entropy');
    const trained = updates[0]!.data.map((d) => trainedText(context, d)).sort();
    expect(trained).toEqual(['<think><answer>Fair Mere<end>', '<think><answer>Tobin Hale<end>']);
    // A mean over trajectories of the mean over tokens.
    for (const { weights } of updates[0]!.data) expect(weights!.reduce((a, b) => a + b, 0)).toBeCloseTo(1 / 2, 12);
    expect(record.feedback.map(({ source }) => source).sort()).toEqual(['p', 'q']);
    expect(record.agreement).toBeNull();
  });

  it('by rejection keeps the correct trajectories of five, with what was shown to them masked', async () => {
    const { context, updates } = fixture((_, { key }) => {
      const [slot, attempt, turn] = place(key);
      if (slot === 1 || attempt === 4) return say('nobody');
      return turn === 0 ? '<think>x<search>Mara Voss<end>' : say(attempt! < 2 ? 'Fair Mere' : 'Tobin Hale');
    });
    const sampling = { system: 'rejection', round: 1, before: base, bank };
    const sample = await sampleStep(context, sampling);
    expect(sample.after).toEqual(base);
    const asked = sample.feedback[0]!;
    expect(asked.matches.filter(Boolean).length).toBe(2);
    const examples = await keptExamples(context, sampling, sample);
    expect(examples.map(({ item: own, rollouts }) => [own.question, rollouts.length])).toEqual([[asked.question, 2]]);
    const trainee = openTrainee(context.engine, context.settings);
    await imitateStep(context, trainee, { ...at, system: 'rejection', examples });
    expect(updates[0]!.data.map((d) => trainedText(context, d))).toEqual(
      Array.from({ length: 2 }, () => `<think>x<search>Mara Voss<end>${say(asked.label)}`),
    );
  });

  it('by rejection stops with the reason when nothing was correct', async () => {
    const { context } = fixture(() => say('nobody'));
    const sampling = { system: 'rejection', round: 1, before: base, bank };
    const sample = await sampleStep(context, sampling);
    await expect(keptExamples(context, sampling, sample)).rejects.toThrow('none of 2 questions was answered correctly');
  });
});

describe('gold questions of a file', () => {
  it('leave out those of the exam, by id and by text', async () => {
    const path = join(folder(), 'train.jsonl');
    const rows = [
      { id: 'a', question: 'Who founded Brask Mills?', golden_answers: ['Mara Voss', 'Voss'] },
      { id: 'b', question: 'who mentors  Mara Voss', golden_answers: ['Tobin Hale'] },
      { id: 'c', question: 'Where is Port Ellow?', golden_answers: ['north'] },
    ];
    await writeFile(path, rows.map((row) => JSON.stringify(row)).join('\n'));
    const asked = (id: string, text: string) =>
      ({ id, text, source: id, hops: 1, label: { answers: ['x'], from: 'gold' } }) as const;
    const gold = [asked('x', 'Who mentors Mara Voss?'), asked('train_c', 'Something else ?')];
    const { context } = fixture(() => '', {}, { gold });
    const { items, overlap } = await goldOfFile(path, context.task, 10);
    expect(overlap).toBe(2);
    expect(items).toEqual([
      {
        id: 'train_a',
        question: 'Who founded Brask Mills?',
        label: 'Mara Voss',
        aliases: ['Voss'],
        source: 'train_a',
        hops: 1,
      },
    ]);
  });
});
