/** Rollouts of self-play without references, as their step keeps them: each proposal, then the answers to its question. */

import type { StepRecord } from '../../record.ts';
import type { Task } from '../context.ts';
import { answerNote, countBy, type Earned, type RolloutNote } from '../measure.ts';
import type { Drafted } from '../propose.ts';
import type { Polled } from './vote.ts';

/** `earned[j]` is of response j; where it is absent, the reward is the match with the majority. */
export const answerNotes = (
  { asked, rollouts, feedback: own }: Polled,
  feedback: number | null,
  earned: readonly Earned[] = [],
): RolloutNote[] =>
  rollouts.map((rollout, attempt) => {
    const matched = own === null ? null : Number(own.matches[attempt]);
    const { reward = matched, advantage = null } = earned[attempt] ?? {};
    return answerNote(asked, rollout, { feedback, attempt, reward, advantage });
  });

/** The hop mix of the questions that were written, where the task can read it. */
export const writtenHops = ({ hopsOf }: Task, written: readonly Drafted[]): Pick<StepRecord, 'written'> =>
  hopsOf === undefined ? {} : { written: countBy(written.map(({ rollout }) => hopsOf(rollout.question!) ?? 'unread')) };
