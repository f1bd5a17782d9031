import { describe, expect, it } from 'vitest';
import { worldAuditor } from '../../src/auditor/world.ts';
import { goldQuestions, parseQuestion, truth } from '../../src/world/question.ts';
import { generateWorld } from '../../src/world/world.ts';
import { tinyWorld } from './tiny.ts';

describe('truth of a question', () => {
  const world = tinyWorld();
  it.each([
    ['founder of Brask Mills ?', 'Mara Voss'],
    ['creator of Brask Mills?', 'Mara Voss'],
    ['mentor of founder of Brask Mills ?', 'Tobin Hale'],
    ['tutor of originator of Brask Mills ?', 'Tobin Hale'],
    ['home of mentor of founder of Brask Mills ?', 'Port Ellow'],
    ['mill of residence of teacher of founder of Brask Mills ?', 'Brask Mills'],
    ['birthplace of Mara Voss ?', 'Fair Mere'],
    ['birthplace of Mara Voss', 'Fair Mere'],
  ])('%s → %s', (question, answer) => expect(truth(world, question)).toBe(answer));
  it.each([
    ['a relation the entity has not', 'mayor of Brask Mills ?'],
    ['an unknown name', 'founder of Brask Works ?'],
    ['an unknown relation', 'uncle of Mara Voss ?'],
    ['a missing of', 'mentor founder of Brask Mills ?'],
    ['no relation', 'Brask Mills ?'],
    ['half a name', 'founder of Brask ?'],
    ['nothing', ''],
  ])('is null for %s', (_, question) => expect(truth(world, question)).toBeNull());
  it('follows the relation nearest to the name first', () => {
    const parsed = parseQuestion('mentor of founder of Brask Mills ?');
    expect(parsed?.start).toBe('Brask Mills');
    expect(parsed?.relations.map((r) => r.wordings[0])).toEqual(['founder', 'mentor']);
  });
});

describe('auditor world', () => {
  it('judges by the knowledge base, not by the source copy, and leaves what it cannot parse unresolved', async () => {
    const verdicts = await worldAuditor(tinyWorld()).judge([
      {
        question: 'cradle of Mara Voss ?',
        source: 'e0',
        label: 'Fair Dale',
        responses: ['Fair Dale', ' Fair Mere ', null, 'fair mere'],
      },
      { question: 'where was Mara Voss born ?', source: 'e0', label: 'Fair Mere', responses: ['Fair Mere'] },
    ]);
    expect(verdicts[0]).toEqual({
      resolved: true,
      reference: 'Fair Mere',
      labelCorrect: false,
      responseCorrect: [false, true, false, false],
    });
    expect(verdicts[1]!.resolved).toBe(false);
  });
});

describe('gold questions', () => {
  const world = generateWorld({ seed: 11 });
  const gold = goldQuestions(world, 250, 'test');
  it('are 250 a hop, distinct, true, and never contain their answer', () => {
    expect([1, 2, 3, 4].map((h) => gold.filter((q) => q.hops === h).length)).toEqual([250, 250, 250, 250]);
    expect(new Set(gold.map((q) => q.id)).size).toBe(1000);
    for (const q of gold) {
      expect(truth(world, q.text)).toBe(q.label.answers[0]);
      expect(parseQuestion(q.text)!.relations).toHaveLength(q.hops);
      expect(q.text).not.toContain(q.label.answers[0]);
    }
  });
  it('use verifiable facts only', () => {
    for (const q of gold) {
      const { start, relations } = parseQuestion(q.text)!;
      let at = world.byName.get(start)!;
      for (const relation of relations) {
        const fact = world.entities[at]!.facts.find((f) => f.relation === relation)!;
        expect(fact.archive).toBe(world.entities[fact.value]!.name);
        at = fact.value;
      }
    }
  });
  it('depend on the key, and a world that is too small says so', () => {
    expect(goldQuestions(world, 5, 'a')).toEqual(goldQuestions(world, 5, 'a'));
    expect(goldQuestions(world, 5, 'a')).not.toEqual(goldQuestions(world, 5, 'b'));
    const small = generateWorld({ seed: 1, entities: { person: 8, company: 8, book: 8, town: 8 } });
    expect(() => goldQuestions(small, 300, 'a')).toThrow(/too few verifiable 1-hop questions for 300/);
  });
});
