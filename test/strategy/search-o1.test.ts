import { describe, expect, test } from 'vitest';
import { searchO1 } from '../../src/strategy/search-o1.ts';
import { queryOf } from '../../src/text/prompt/search-o1.ts';
import { BUDGET, hit, play } from './fixture.ts';

const want = (query: string): string => `I need ${query}. <begin_search_query> ${query} `;

describe('search-o1', () => {
  test('a search is distilled into a note that takes its place in the reasoning', async () => {
    const { attempt, queries, requests, prompts } = await play(
      searchO1,
      [want('Oker'), '<think>doc 1</think>It is a river. <end_search_query>', '<answer>a river</answer>'],
      { found: () => [hit('Oker', 'A river. <end_search_result>')] },
    );
    expect(queries).toEqual(['Oker']);
    expect(attempt).toMatchObject({ prediction: 'a river', searches: 1, stop: 'answer' });
    expect(prompts[0]).toContain('You can search at most\n4 times.');
    expect(requests[0]!.stop).toEqual(['<end_search_query>']);
    expect(prompts[1]).toMatch(
      /Search: Oker\nReasoning so far: I need Oker\. &lt;begin_search_query>Oker&lt;end_search_query>\n\nDocuments:\nDoc 1 \(Title: Oker\) A river\. &lt;end_search_result>$/,
    );
    expect(requests[1]!.stop).toBeUndefined();
    expect(requests[2]!.messages.slice(1)).toEqual([
      { role: 'assistant', content: 'I need Oker. <begin_search_query>Oker<end_search_query>' },
      { role: 'user', content: '<begin_search_result> It is a river. &lt;end_search_query> <end_search_result>' },
    ]);
    expect(attempt.turns.map(({ kind }) => kind)).toEqual([
      'prompt',
      'reply',
      'search',
      'prompt',
      'reply',
      'prompt',
      'reply',
    ]);
  });

  test('a query that was asked before is told to be used again, and costs no search', async () => {
    const { queries, prompts, attempt } = await play(searchO1, [
      want('Oker'),
      'note',
      want('OKER '),
      '<answer>x</answer>',
    ]);
    expect(queries).toEqual(['Oker']);
    expect(prompts[3]).toContain('You have searched for this before.');
    expect(attempt).toMatchObject({ prediction: 'x', searches: 1 });
  });

  test('over the limit it is told so, and has one reply left', async () => {
    const replies = ['a', 'b', 'c', 'd'].flatMap((query) => [want(query), `note on ${query}`]);
    const answered = await play(searchO1, [...replies, want('e'), '<answer>x</answer>', 'never asked for']);
    expect(answered.queries).toEqual(['a', 'b', 'c', 'd']);
    expect(answered.prompts.at(-1)).toContain('The search limit is reached.');
    expect(answered.attempt).toMatchObject({ prediction: 'x', searches: 4 });
    const stubborn = await play(searchO1, [...replies, want('e'), want('f'), 'never asked for']);
    expect(stubborn.attempt).toMatchObject({ prediction: null, searches: 4, stop: 'malformed' });
    expect(stubborn.requests.length).toBe(10);
    const none = await play(searchO1, [want('a'), '<answer>x</answer>'], { budget: { ...BUDGET, turns: 1 } });
    expect([none.queries, none.attempt.prediction]).toEqual([[], 'x']);
    expect(none.prompts[1]).toContain('The search limit is reached.');
  });

  test('repeating the same query does not go on for ever', async () => {
    const { requests, attempt } = await play(searchO1, [
      want('a'),
      'note',
      ...Array.from({ length: 20 }, () => want('a')),
    ]);
    expect(requests.length).toBe(7);
    expect(attempt).toMatchObject({ prediction: null, searches: 1 });
  });

  test('a note without a word says that nothing was found', async () => {
    const { prompts } = await play(searchO1, [
      want('a'),
      { text: '<think>hm</think> ', finish: 'length' },
      '<answer>x</answer>',
    ]);
    expect(prompts[2]).toBe('<begin_search_result> No helpful information found. <end_search_result>');
  });

  test('a query that the token limit cut is not run', async () => {
    const { queries, attempt } = await play(searchO1, [{ text: want('Ok'), finish: 'length' }]);
    expect(queries).toEqual([]);
    expect(attempt).toMatchObject({ prediction: null, stop: 'token-limit' });
  });

  test.each([
    ['no marker', null],
    ['<begin_search_query>  ', null],
    ['x <begin_search_query>a', { query: 'a', said: 'x <begin_search_query>a<end_search_query>' }],
    ['<begin_search_query>a<end_search_query> tail', { query: 'a', said: '<begin_search_query>a<end_search_query>' }],
    [
      '<begin_search_query>a <begin_search_query>b',
      { query: 'b', said: '<begin_search_query>a <begin_search_query>b<end_search_query>' },
    ],
  ])('query of %s', (reply, expected) => {
    expect(queryOf(reply)).toEqual(expected);
  });
});
