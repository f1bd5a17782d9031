/** SQLM* and R-Zero* step by step (method.md section 7): whose label, whose reward, and when the proposer learns. */
import { describe, expect, it } from 'vitest';
import { challengerStep } from '../../src/train/baseline/challenger.ts';
import { sqlmStep } from '../../src/train/baseline/sqlm.ts';
import { writePolled } from '../../src/train/baseline/write.ts';
import { getRollouts } from '../../src/train/measure.ts';
import { openTrainee } from '../../src/train/trainee.ts';
import { fixture, trainedText } from './baseline-fixture.ts';

const base = { policy: 'base', optimizer: null };
const say = (answer: string): string => `<think>x<answer>${answer}<end>`;
const ask = (question: string, draft: string): string => `<think>x<question>${question}<answer>${draft}<end>`;

/** `questions[i]` is the i-th proposal (null: none is formed); `answers` gives attempt j at a question. */
function script(questions: readonly (string | null)[], answers: (question: string, j: number) => string) {
  return (prompt: string, { key }: { readonly key: string }): string => {
    if (prompt.startsWith('<solve>')) {
      return say(answers(prompt.slice('<solve>'.length), Number(/(\d+)\/t\d+$/.exec(key)![1])));
    }
    const question = questions[Number(/(\d+)\/0\/t\d+$/.exec(key)![1]) % questions.length]!;
    return question === null ? '<think>x<end>' : ask(question, 'the draft');
  };
}

describe('a step of SQLM*', () => {
  /** 3 of 5 answers agree on the first question, all of them on the second. */
  const split = script(['home of A ?', 'home of B ?'], (q, j) => (q.includes('A') && j > 2 ? `other ${j}` : 'Port'));
  const step = async (age: number) => {
    const { context, updates } = fixture(split);
    const trainee = openTrainee(context.engine, context.settings);
    const record = await sqlmStep(context, trainee, { system: 'sqlm', round: 1, step: age, before: base, age });
    return { context, updates, record };
  };

  it('labels with the majority, never with the draft; the solver earns 1 for it', async () => {
    const { record, context } = await step(0);
    expect(record.feedback.map(({ label }) => label)).toEqual(['Port', 'Port']);
    expect(record.feedback.map(({ matches }) => matches)).toEqual([
      [true, true, true, false, false],
      [true, true, true, true, true],
    ]);
    expect(record.reward).toEqual({ mean: 0.8, parts: { match: 0.8, asking: 0.5, question: 1 } });
    const notes = await getRollouts(context, record.rollouts);
    expect(notes.filter(({ role }) => role === 'proposer').map(({ reward }) => reward)).toEqual([1, 0]);
  });

  it('trains the proposer in every fifth step, in the same update, without its draft answer', async () => {
    const solver = 5;
    expect((await step(3)).updates[0]!.data.length).toBe(solver);
    const { updates, context, record } = await step(4);
    expect(updates.length).toBe(1);
    expect(record.update.trained).toBe(solver + 2);
    const asking = updates[0]!.data.slice(solver);
    expect(asking.map((d) => trainedText(context, d))).toEqual([
      '<think>x<question>home of A ?<answer><end>',
      '<think>x<question>home of B ?<answer><end>',
    ]);
    expect(asking[0]!.advantages!.some((a) => a > 0)).toBe(true);
    expect(asking[1]!.advantages!.some((a) => a > 0)).toBe(false);
  });

  it('has no label where no two answers agree, and teaches nothing there', async () => {
    const { context, updates } = fixture(script(['home of A ?', null], (_, j) => `answer ${j}`));
    const trainee = openTrainee(context.engine, context.settings);
    const record = await sqlmStep(context, trainee, { system: 'sqlm', round: 1, step: 0, before: base, age: 0 });
    expect(record.feedback).toEqual([]);
    expect(record.reward).toEqual({ mean: 0, parts: { match: 0, asking: 0, question: 0.5 } });
    expect(updates).toEqual([]);
    expect(record.after).toEqual(base);
  });

  it('records the hops that were written, whatever the prompts asked for', async () => {
    const { context } = fixture(
      script(['home of A B ?', 'nonsense'], () => 'Port'),
      {},
      { hopMix: [0, 0, 1, 0], hopsOf: (question) => (question.startsWith('home') ? 1 : null) },
    );
    const trainee = openTrainee(context.engine, context.settings);
    const record = await sqlmStep(context, trainee, { system: 'sqlm', round: 1, step: 0, before: base, age: 0 });
    expect(record.hops).toEqual({ 3: 2 });
    expect(record.written).toEqual({ 1: 1, unread: 1 });
  });
});

describe("R-Zero*'s challenger", () => {
  const questions = ['home of Mara Voss ?', 'mentor of Mara Voss ?', 'spouse of Tobin Hale today', null];
  /** 5 of 10 agree on the first, 8 on the second, all on the third. */
  const answers = (q: string, j: number): string =>
    (q.startsWith('home') && j >= 5) || (q.startsWith('mentor') && j >= 8) ? `other ${j}` : 'Port';

  it('earns uncertainty minus the share of its near-duplicates; bad format earns 0', async () => {
    const { context, updates } = fixture(script(questions, answers));
    const trainee = openTrainee(context.engine, context.settings);
    const at = { system: 'r-zero', round: 1, step: 0, before: base, solver: 'solver' };
    const record = await challengerStep(context, trainee, at);
    const notes = (await getRollouts(context, record.rollouts)).filter(({ role }) => role === 'proposer');
    // Two of the three questions are one cluster: 1 − 0 − 2/3, 1 − .6 − 2/3 < 0, 1 − 1 − 1/3 < 0, no question.
    expect(notes.map(({ reward }) => Math.round(reward! * 1e6) / 1e6)).toEqual([0.333333, 0, 0, 0]);
    expect(record.reward.parts.cluster).toBeCloseTo((2 / 3 + 2 / 3 + 1 / 3) / 4, 12);
    expect(record.feedback.map(({ grader, label }) => `${grader} ${label}`)).toEqual(Array(3).fill('solver Port'));
    expect(record.responses).toBe(30 / 4);
    expect(updates[0]!.data.length).toBe(4);
  });

  it('writes a bank of what the solver is unsure of, labelled by the solver', async () => {
    const { context } = fixture(script(questions, answers), { admitted: 4 });
    const record = await writePolled(context, { system: 'r-zero', round: 1, policy: 'base', solver: 'solver' });
    expect(record.bank).toMatchObject([
      { id: 'r-zero/1/0', question: 'home of Mara Voss ?', label: 'Port' },
      { id: 'r-zero/1/1', question: 'mentor of Mara Voss ?', label: 'Port' },
      { id: 'r-zero/1/2', question: 'home of Mara Voss ?', label: 'Port' },
      { id: 'r-zero/1/3', question: 'mentor of Mara Voss ?', label: 'Port' },
    ]);
    expect(record.refused).toEqual({ no_question: 2, too_certain: 1 });
    expect(record.verification).toMatchObject({ admitted: 4, changed: 4, generations: 60 });
  });

  it('stops with the reasons when the solver is sure of everything', async () => {
    const { context } = fixture(script(['home of A ?'], () => 'Port'));
    await expect(
      writePolled(context, { system: 'r-zero', round: 1, policy: 'base', solver: 'solver' }),
    ).rejects.toThrow('none of 24 proposals was admitted (24 too_certain)');
  });
});
