/** The responses that a bank brought along, as feedback: what its own loop agreed on. */
import type { Matcher } from '../../matcher.ts';
import type { Feedback } from '../../types.ts';
import type { BankQuestion } from './bank.ts';

/** Questions without responses are left out, and responses that nobody could tell to match or not. */
export async function loggedFeedback(bank: readonly BankQuestion[], matcher: Matcher): Promise<readonly Feedback[]> {
  const kept = bank.flatMap((item) => (item.responses === undefined ? [] : [{ ...item, responses: item.responses }]));
  const verdicts = await matcher.match(
    kept.flatMap(({ question, label, responses }) =>
      responses.flatMap((b) => (b === null ? [] : [{ question, a: label, b }])),
    ),
  );
  let next = 0;
  return kept.map(({ question, label, source, hops, responses }) => {
    const told = responses.flatMap((response) => {
      const match = response === null ? false : verdicts[next++]!;
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
