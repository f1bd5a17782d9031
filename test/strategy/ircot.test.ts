import { describe, expect, test } from 'vitest';
import { ircot } from '../../src/strategy/ircot.ts';
import { concludes } from '../../src/text/prompt/ircot.ts';
import { BUDGET, hit, play } from './fixture.ts';

describe('ircot', () => {
  test('searches for the question and for each thought; the reader answers from all that was found', async () => {
    const { attempt, queries, prompts, requests } = await play(ircot, [
      'Dr. Smith wrote it. He was from Askevik. More.',
      '<think>maybe</think>\nAskevik is on the Oker.',
      'So the answer is: the Oker.',
      '<think>all</think><answer>Oker</answer>',
    ]);
    expect(queries).toEqual(['Who wrote it?', 'Dr. Smith wrote it.', 'Askevik is on the Oker.']);
    expect(attempt).toMatchObject({ prediction: 'Oker', searches: 3, stop: 'answer' });
    expect(prompts[0]).toMatch(/Doc 1 \(Title: Who wrote it\?\)[\s\S]*Sentences so far: none$/);
    expect(prompts[1]).toMatch(/Doc 2 \(Title: Dr\. Smith wrote it\.\)[\s\S]*Sentences so far: Dr\. Smith wrote it\.$/);
    expect(prompts[2]).toMatch(/Sentences so far: Dr\. Smith wrote it\. Askevik is on the Oker\.$/);
    expect(prompts[3]).toMatch(
      /^Answer the question below with the help of the documents[\s\S]*Doc 3 \(Title: Askevik is on the Oker\.\)/,
    );
    expect(prompts[3]).not.toContain('Sentences so far');
    expect(requests.map(({ maxTokens }) => maxTokens)).toEqual([128, 128, 128, 200]);
  });

  test('stops at the cap: four thoughts, four searches, and the reader is the fifth reply', async () => {
    const { attempt, queries, requests } = await play(ircot, [
      'One.',
      'Two.',
      'Three.',
      'Four.',
      '<answer>x</answer>',
      'no',
    ]);
    expect(queries).toEqual(['Who wrote it?', 'One.', 'Two.', 'Three.']);
    expect(requests.length).toBe(5);
    expect(attempt).toMatchObject({ prediction: 'x', searches: 4 });
    const two = await play(ircot, ['One.', '<answer>x</answer>'], { budget: { ...BUDGET, turns: 2 } });
    expect([two.queries, two.attempt.prediction]).toEqual([['Who wrote it?'], 'x']);
    const one = await play(ircot, ['<answer>x</answer>'], { budget: { ...BUDGET, turns: 1 } });
    expect([one.queries, one.attempt.prediction]).toEqual([['Who wrote it?'], 'x']);
  });

  test.each([
    ['an empty thought', ''],
    ['a thought that comes again', 'One.'],
  ])('%s ends the reasoning', async (_, thought) => {
    const { queries, attempt } = await play(ircot, ['One.', thought, '<answer>x</answer>']);
    expect(queries).toEqual(['Who wrote it?', 'One.']);
    expect(attempt.prediction).toBe('x');
  });

  test('15 paragraphs at most, each once, the first found first', async () => {
    let n = 0;
    // Six a search: one that is known already, five new.
    const found = () => [hit('known'), ...Array.from({ length: 5 }, () => hit(`p${n++}`))];
    const { prompts } = await play(ircot, ['One.', 'Two.', 'Three.', 'Four.', '<answer>x</answer>'], { found });
    const titles = [...prompts[4]!.matchAll(/Doc \d+ \(Title: (\w+)\)/g)].map((m) => m[1]);
    expect(titles).toEqual(['known', ...Array.from({ length: 14 }, (_, i) => `p${i}`)]);
  });

  test.each([
    ['So the answer is: Oker.', true],
    ['so The  Answer is Oker', true],
    ['The answers are unknown.', false],
    ['Its answer is clear.', false],
  ])('%s concludes: %s', (sentence, expected) => {
    expect(concludes(sentence)).toBe(expected);
  });
});
