import { describe, expect, it } from 'vitest';
import { auditRun } from '../../src/recipe/audit.ts';
import type { EvaluationRecord, RolloutRecord, StepRecord } from '../../src/record.ts';
import { judged } from '../../src/report/outcome.ts';
import { type RolloutFilters, showRollouts } from '../../src/report/rollouts.ts';
import { openReader } from '../../src/store/read.ts';
import { folder } from '../store/folder.ts';
import { asked, fixtureAuditor, writeRun } from './fixture.ts';

/** One question a step: two false agreements, one lost credit, two plain misses. */
async function shown(filters: RolloutFilters) {
  const dir = folder();
  await writeRun(dir, { rounds: 1, proposerSteps: 1, solverSteps: 1, feedback: () => [asked('s1', 2, 'FFLNN')] });
  const reader = await openReader(dir);
  const report = await auditRun(reader, fixtureAuditor);
  const out: string[] = [];
  for await (const text of showRollouts(reader, report, filters)) out.push(text);
  return out;
}

const heads = (texts: readonly string[]) => texts.map((text) => text.split('\n')[0]);

describe('showRollouts', () => {
  it('pages: each rollout once, and says where the page stands', async () => {
    expect(heads(await shown({ limit: 4 }))).toEqual([
      '#1  round1/proposer/000  proposer: wrong, false-agreement',
      '#2  round1/proposer/000  solver, response 1 of 5: wrong, false-agreement',
      '#3  round1/proposer/000  solver, response 2 of 5: wrong, false-agreement',
      '#4  round1/proposer/000  solver, response 3 of 5: right',
      'Rollouts 1 to 4; there are more: --page 2',
    ]);
    expect(heads(await shown({ limit: 4, page: 3 }))).toEqual([
      '#9  round1/solver/000  solver, response 3 of 5: right',
      '#10  round1/solver/000  solver, response 4 of 5: wrong',
      '#11  round1/solver/000  solver, response 5 of 5: wrong',
      'Rollouts 9 to 11; there are no more.',
    ]);
    expect(await shown({ limit: 4, page: 9 })).toEqual(['Page 9 is empty: 11 rollouts match.']);
  });

  it('filters by step, role and outcome together', async () => {
    expect(heads(await shown({ step: 'round1/solver', outcome: 'false-agreement', role: 'solver' }))).toEqual([
      '#1  round1/solver/000  solver, response 1 of 5: wrong, false-agreement',
      '#2  round1/solver/000  solver, response 2 of 5: wrong, false-agreement',
      'Rollouts 1 to 2; there are no more.',
    ]);
    expect(await shown({ outcome: 'error' })).toEqual(['No rollout matches.']);
    await expect(shown({ step: 'round9' })).rejects.toThrow(
      /--step round9: nothing under this key .* try one of base\/evaluate/,
    );
  });

  it('lets no text of a document steer the terminal or pass for a line of ours', async () => {
    const text = (await shown({ role: 'proposer', columns: 40 }))[0]!;
    expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    expect(text).toContain('\\e[2J');
    const turns = text.split('\n').slice(text.split('\n').findIndex((line) => line.startsWith('prompt')));
    for (const line of turns.filter((l) => l !== '')) {
      expect(line).toMatch(/^(prompt|reply|search|)\s*\| /);
      expect(line.length).toBeLessThanOrEqual(40);
    }
  });
});

describe('judged', () => {
  const rollout = (stop: RolloutRecord['rollout']['stop'], answer: string | null, malformedCall = false) =>
    ({ role: 'solver', feedback: 0, attempt: 0, rollout: { stop, answer, malformedCall } }) as RolloutRecord;
  const step = { kind: 'step', feedback: [asked('s1', 1, 'FFLNN')] } as unknown as StepRecord;
  const verdict = {
    resolved: true,
    reference: 'blue',
    labelCorrect: false,
    responseCorrect: [false, false, true, false, false],
  } as const;

  it.each([
    ['a false agreement', rollout('answer', 'red'), ['wrong', 'false-agreement']],
    ['an outage, which is never wrong', rollout('error', null), ['error']],
    ['a malformed call before an answer', rollout('answer', 'red', true), ['wrong', 'false-agreement', 'malformed']],
    ['a response that is not the recorded one', rollout('answer', 'mauve'), []],
  ])('tells %s', (_, r, outcomes) => expect(judged(step, r, 0, [verdict]).outcomes).toEqual(outcomes));

  it('says nothing where the auditor could not judge, and reads an exam by its place', () => {
    expect(judged(step, rollout('answer', 'red'), 0, [{ resolved: false, why: '' }])).toMatchObject({
      outcomes: [],
      match: true,
      label: 'red',
    });
    const exam = { kind: 'evaluation', em: [false, true] } as unknown as EvaluationRecord;
    expect(judged(exam, rollout('answer', 'x'), 1, []).outcomes).toEqual(['right']);
  });
});
