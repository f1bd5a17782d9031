import { expect, it } from 'vitest';
import { evaluationOf, type Outcome, scoreItem } from '../../src/benchmark/result.ts';
import { evaluationText, evaluationWarnings } from '../../src/report/evaluation/evaluation.ts';

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
    evaluationWarnings(
      evaluationOf({}, [scoreItem(one, { prediction: 'x', searches: 4, emptySearches, stop: 'answer' })], [one]),
    );
  expect(warned(2)).toEqual([]);
  expect(warned(3)).toEqual([expect.stringMatching(/^\.750 of the searches found nothing: /)]);
  expect(warned(4)).toEqual([expect.stringMatching(/^every search found nothing: /)]);
});

it('warns when more than half of the questions got an empty reply, outages aside', () => {
  const asked = [1, 2, 3, 4].map((n) => ({ ...one, id: `q${n}` }));
  const silent = { prediction: null, searches: 0, emptyReplies: 2, stop: 'malformed' } as const;
  const away = { prediction: null, searches: 0, stop: 'error', error: 'away' } as const;
  const spoken = { prediction: 'x', searches: 0, stop: 'answer' } as const;
  const exam = (outcomes: readonly Outcome[]) =>
    evaluationOf(
      {},
      outcomes.map((outcome, i) => scoreItem(asked[i]!, outcome)),
      asked,
    );
  expect(evaluationWarnings(exam([silent, spoken, silent, spoken]))).toEqual([]);
  const most = exam([silent, spoken, silent, away]);
  expect(evaluationWarnings(most)).toEqual([
    expect.stringMatching(/^\.667 of the questions got an empty reply: .*chat template.*stop string.*--max-tokens/),
  ]);
  expect(evaluationText(most, { ran: true })).toContain('ended by a limit .000, with an empty reply .667.');
  expect(evaluationWarnings(exam([silent, silent]))).toEqual([expect.stringMatching(/^every question got an empty/)]);
  expect(evaluationText(exam([spoken]), { ran: true })).not.toContain('empty');
  expect(evaluationWarnings(exam([away]))).toEqual([]);
});
