/** Published rollouts of other systems, audited as logs of single responses. Not part of the repository. */
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { lastAnswer } from '../../src/text/last-answer.ts';
import { audited } from './audited-log.ts';

const REAL = fileURLToPath(new URL('../../../shared/data/', import.meta.url));
if (!existsSync(REAL)) console.log(`skipped: no published rollouts in ${REAL}`);

describe.skipIf(!existsSync(REAL))('published rollouts as logs of single responses', () => {
  it('FireAct: EM .430 and .345', async () => {
    const audit = await audited(`${REAL}rollouts/fireact_hotpotqa.jsonl.gz`, {
      map: ['label=golden_answers', 'reference=golden_answers', 'system=model'],
    });
    expect(audit.systems.map(({ all }) => [all.judged, all.shares!.TS.toFixed(3)])).toEqual([
      [465, '0.430'],
      [499, '0.345'],
    ]);
  });

  it('R1-Searcher: its judge passes 59 answers that gold fails (X1), and fails none that gold passes', async () => {
    const file = `${REAL}rollouts/r1searcher.jsonl.gz`;
    const map = ['label=golden_answers', 'reference=golden_answers', 'reward=judge_verdict'];
    const audit = await audited(file, { map });
    const { shares, judged } = audit.systems[0]!.all;
    expect([shares!.X1 * judged, shares!.X2 * judged].map(Math.round)).toEqual([59, 0]);
  });

  it('R1-Searcher: the last answer block of a transcript is the published prediction, but for one row', () => {
    const rows = gunzipSync(readFileSync(`${REAL}rollouts/r1searcher.jsonl.gz`))
      .toString()
      .trim()
      .split('\n');
    const differing = rows
      .map((line) => JSON.parse(line))
      .filter(({ transcript, prediction }) => (lastAnswer(transcript) ?? '') !== prediction.trim());
    // Upstream: "July 27, 1953" beside a transcript that ends in "27 July 1953".
    expect(differing.map(({ id }) => id)).toEqual(['r1searcher/bamboogle_qwen/102']);
  });

  it('R-Zero: 7 of 12 and 2 of 5 decided labels are right, by the verdicts in the file', async () => {
    const audit = await audited(`${REAL}rollouts/r_zero_generated_questions_sample.jsonl`, {
      map: ['response=answer', 'label=answer', 'verdict=hand_check'],
    });
    expect(audit.systems[0]!.rounds.map(({ scope }) => [scope.judged, scope.evaluated, scope.shares!.TP])).toEqual([
      [12, 14, 7 / 12],
      [5, 12, 2 / 5],
    ]);
  });
});
