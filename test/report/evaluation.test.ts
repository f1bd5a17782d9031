import { expect, it } from 'vitest';
import { evaluationOf, scoreItem } from '../../src/benchmark/result.ts';
import { evaluationText, searchWarning } from '../../src/report/evaluation/evaluation.ts';

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

const one = { id: 'q', set: 'nq', question: 'Q?', golden: ['yes'] };

it('speaks of macro only where there are several sets', () => {
  const item = scoreItem(one, { prediction: 'yes', searches: 0, stop: 'answer' });
  const text = evaluationText(evaluationOf({}, [item], [one]), { ran: true });
  expect(text).toContain('Means with 95 % bootstrap intervals over questions.');
  expect(text).not.toContain('macro');
});

it('shows no zeros for questions that nobody answered', () => {
  const item = scoreItem(one, { prediction: null, searches: 0, stop: 'error', error: 'away' });
  const text = evaluationText(evaluationOf({}, [item], [one]), { ran: true });
  expect(text).toBe(
    'No question was answered: there are no figures.\nINCOMPLETE: 1 (1.000) lost to an outage. They are in no figure above.',
  );
});

it('warns when more than half of the searches found nothing', () => {
  const warned = (emptySearches: number) =>
    searchWarning(
      evaluationOf({}, [scoreItem(one, { prediction: 'x', searches: 4, emptySearches, stop: 'answer' })], [one]),
    );
  expect(warned(2)).toBe(null);
  expect(warned(3)).toMatch(/^\.750 of the searches found nothing: /);
  expect(warned(4)).toMatch(/^every search found nothing: /);
});
