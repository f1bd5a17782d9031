/**
 * How far a judge can be believed: its verdicts beside those of a rule (equal to its own reference after normalisation), and
 * against the gold answers of the questions that have some. An answer that a question met several times counts once.
 */
import type { Auditor } from '../../auditor.ts';
import { answerKey } from '../../matcher/exact.ts';
import { type Interval, wilson } from '../../method/statistics.ts';
import { score } from '../../text/score.ts';
import type { Graded, Judged } from '../audit/judge.ts';

export interface JudgeCheck {
  /** Share of the judged answers that the rule finds correct, and that the judge does. */
  readonly rule_score: number | null;
  readonly judge_score: number | null;
  /** Answers judged. */
  readonly answers: number;
  /** Null when no question that the judge resolved has a gold answer. */
  readonly againstGold: AgainstGold | null;
}

export interface AgainstGold {
  readonly answers: number;
  /** The judge finds correct what gold finds wrong. */
  readonly falselyCorrect: number;
  readonly falselyIncorrect: number;
  /** Share of answers on which the two differ, Wilson's 95 % interval. */
  readonly error: Interval;
  /** Share of the judge's references that match a gold answer. */
  readonly references: Interval;
}

interface Answer {
  readonly question: string;
  readonly text: string;
  readonly correct: boolean;
}

export async function judgeCheck<F extends Graded>(all: readonly Judged<F>[], gold: Auditor): Promise<JudgeCheck> {
  const own = answersOf(all);
  const ruled = own.filter(({ reference, text }) => score(text, [reference]).em === 1);
  const share = (count: number): number | null => (own.length === 0 ? null : count / own.length);
  return {
    rule_score: share(ruled.length),
    judge_score: share(own.filter(({ correct }) => correct).length),
    answers: own.length,
    againstGold: await againstGold(all, gold),
  };
}

async function againstGold<F extends Graded>(all: readonly Judged<F>[], gold: Auditor): Promise<AgainstGold | null> {
  const known = all.filter(({ feedback, verdict }) => verdict.resolved && (feedback.references ?? []).length > 0);
  if (known.length === 0) return null;
  const verdicts = await gold.judge(known.map(({ feedback }) => feedback));
  const truth = new Map(
    answersOf(known.map(({ feedback }, i) => ({ feedback, verdict: verdicts[i]!, pairs: [] }))).map((one) => [
      keyOf(one),
      one.correct,
    ]),
  );
  const both = answersOf(known).filter((one) => truth.has(keyOf(one)));
  const falselyCorrect = both.filter((one) => one.correct && !truth.get(keyOf(one))).length;
  const falselyIncorrect = both.filter((one) => !one.correct && truth.get(keyOf(one))).length;
  const written = await gold.judge(
    known.map(({ feedback, verdict }) => ({
      ...feedback,
      label: verdict.resolved ? verdict.reference : '',
      responses: [],
    })),
  );
  const agreed = written.filter((verdict) => verdict.resolved && verdict.labelCorrect).length;
  return {
    answers: both.length,
    falselyCorrect,
    falselyIncorrect,
    error: wilson(falselyCorrect + falselyIncorrect, both.length),
    references: wilson(agreed, known.length),
  };
}

const keyOf = ({ question, text }: Answer): string => JSON.stringify([question, answerKey(text)]);

/** Distinct answers of resolved questions, labels among them. */
function answersOf<F extends Graded>(all: readonly Judged<F>[]): (Answer & { readonly reference: string })[] {
  const found = new Map<string, Answer & { readonly reference: string }>();
  for (const { feedback, verdict } of all) {
    if (!verdict.resolved) continue;
    const { question, source, label, responses } = feedback;
    const add = (text: string | null, correct: boolean | null): void => {
      if (!text?.trim() || correct === null) return;
      const answer = { question: `${source}\n${question}`, text, correct, reference: verdict.reference };
      found.set(keyOf(answer), answer);
    };
    add(label, verdict.labelCorrect);
    responses.forEach((response, j) => {
      add(response, verdict.responseCorrect[j]!);
    });
  }
  return [...found.values()];
}
