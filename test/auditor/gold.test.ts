import { describe, expect, it } from 'vitest';
import { goldAuditor } from '../../src/auditor/gold.ts';
import type { AuditQuestion } from '../../src/auditor.ts';
import { cover } from '../../src/matcher/cover.ts';
import { exact } from '../../src/matcher/exact.ts';
import type { Matcher } from '../../src/matcher.ts';

const item = (
  label: string,
  responses: readonly (string | null)[],
  rest: Partial<AuditQuestion> = {},
): AuditQuestion => ({
  question: 'Where?',
  source: 's',
  label,
  responses,
  ...rest,
});

const one = async (asked: AuditQuestion, matcher = exact) => (await goldAuditor(matcher).judge([asked]))[0];

describe('gold', () => {
  it('takes every alias, and a missing answer is wrong', async () => {
    expect(await one(item('The USA', ['usa', 'America', 'Peru', null], { references: ['USA', 'America'] }))).toEqual({
      resolved: true,
      reference: 'USA',
      labelCorrect: true,
      responseCorrect: [true, true, false, false],
    });
  });

  it('is as lenient as the matcher of the audit', async () => {
    const asked = item('in Oslo', ['Oslo harbour'], { references: ['Oslo'] });
    expect(await one(asked)).toMatchObject({ labelCorrect: false, responseCorrect: [false] });
    expect(await one(asked, cover)).toMatchObject({ labelCorrect: true, responseCorrect: [true] });
  });

  it.each([undefined, [], [' ']])('leaves a question without a reference open (%j)', async (references) => {
    const asked = references === undefined ? item('x', ['y']) : item('x', ['y'], { references });
    expect(await one(asked)).toMatchObject({ resolved: false });
  });

  it('judges by a verdict on the label only what follows from it', async () => {
    expect(await one(item('8', ['8', '9', null], { labelVerdict: true }))).toMatchObject({
      labelCorrect: true,
      responseCorrect: [true, false, false],
    });
    expect(await one(item('8', ['8', '9', null], { labelVerdict: false }))).toMatchObject({
      labelCorrect: false,
      responseCorrect: [false, null, false],
    });
  });

  it('keeps the order of a batch whose questions differ in size', async () => {
    const verdicts = await goldAuditor(exact).judge([
      item('a', ['a', 'b'], { references: ['a', 'c'] }),
      item('x', ['y']),
      item('b', [null, 'd'], { references: ['d'] }),
    ]);
    expect(verdicts).toMatchObject([
      { labelCorrect: true, responseCorrect: [true, false] },
      { resolved: false },
      { labelCorrect: false, responseCorrect: [false, true] },
    ]);
  });

  it('leaves open what its matcher cannot tell', async () => {
    const torn: Matcher = {
      name: 'torn',
      match: async (pairs) => pairs.map(({ a, b }) => (a === '?' ? null : a === b)),
    };
    const right = { references: ['x', 'y'] };
    expect(await one(item('x', ['?', 'y', 'z', null], right), torn)).toEqual({
      resolved: true,
      reference: 'x',
      labelCorrect: true,
      responseCorrect: [null, true, false, false],
    });
    expect(await one(item('?', ['x'], right), torn)).toEqual({
      resolved: false,
      why: 'the matcher could not tell whether the label is right',
    });
  });
});
