/** The responses that a bank brought along, as feedback: what its own loop agreed on. */
import { matchAnswers } from '../../matcher/answers.ts';
import type { Matcher } from '../../matcher.ts';
import type { Feedback } from '../../types.ts';
import type { BankQuestion } from './bank.ts';

/** Questions without responses are left out, and responses that nobody could tell to match or not. */
export async function loggedFeedback(bank: readonly BankQuestion[], matcher: Matcher): Promise<readonly Feedback[]> {
  const kept = bank.flatMap((item) => (item.responses === undefined ? [] : [{ ...item, responses: item.responses }]));
  const found = await matchAnswers(
    matcher,
    kept.map(({ question, label, responses }) => ({ question, accepted: [label], answers: responses })),
  );
  return kept.map(({ question, label, source, hops, responses }, i) => {
    const told = responses.flatMap((response, j) => {
      const match = found[i]![j]!;
      return match === null ? [] : [{ response, match }];
    });
    return {
      question,
      label,
      source,
      hops,
      grader: 'logged',
      responses: told.map(({ response }) => response),
      matches: told.map(({ match }) => match),
    };
  });
}
