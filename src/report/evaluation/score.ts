/** What scoring a predictions file came upon, in lines for a person. */
import type { Scored } from '../../benchmark/predictions.ts';
import { count } from '../format.ts';
import { noteText } from './load.ts';

type Report = Scored['report'];

export function scoreWarnings({ rows, unanswered, missing, strangers, withoutGold, notes }: Report): string[] {
  const of = `of ${count(rows)} rows`;
  return [
    ...(unanswered > 0 ? [`${count(unanswered)} ${of} have no prediction; they count as wrong`] : []),
    ...(withoutGold > 0 ? [`${count(withoutGold)} ${of} have no gold that can be matched; they are left out`] : []),
    ...(strangers > 0 ? [`${count(strangers)} ${of} belong to no question of --questions; they are left out`] : []),
    ...(missing > 0 ? [`${count(missing)} questions have no prediction at all`] : []),
    ...Object.entries(notes).map(([note, n]) => `in ${count(n)} rows ${noteText[note as keyof typeof notes]}`),
  ];
}

export function agreementLines({ agreement }: Report): string[] {
  if (agreement === null) return [];
  const { both, verdictOnly, emOnly, neither, unclear } = agreement;
  const parts = [
    `${count(both)} pass both`,
    `${count(verdictOnly)} pass the verdict but not EM`,
    `${count(emOnly)} pass EM but not the verdict`,
    `${count(neither)} neither`,
    ...(unclear > 0 ? [`${count(unclear)} with a verdict that is neither yes nor no`] : []),
  ];
  return [`Verdict of the file beside EM: ${parts.join(', ')}.`];
}
