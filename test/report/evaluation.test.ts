import { expect, it } from 'vitest';
import { evaluationOf, scoreItem } from '../../src/benchmark/result.ts';
import { evaluationText } from '../../src/report/evaluation/evaluation.ts';

it('a row says how many questions are behind it', () => {
  const questions = ['nq', 'nq', 'popqa', 'musique'].map((set, i) => ({
    id: `q${i}`,
    set,
    question: `question ${i}`,
    golden: ['yes'],
  }));
  const items = questions.map((question, i) =>
    scoreItem(question, { prediction: i < 2 ? 'yes' : 'no', searches: 1, stop: 'answer' }),
  );
  const lines = evaluationText(evaluationOf({}, items, questions), { ran: true }).split('\n');
  const nOf = (name: string) => lines.find((line) => line.startsWith(name))?.split(/ +/)[1];
  expect(['nq', 'popqa', 'musique', 'single-hop', 'multi-hop', 'macro', 'micro'].map(nOf)).toEqual([
    '2',
    '1',
    '1',
    '3',
    '1',
    '4',
    '4',
  ]);
});
