/** What the questions of a bank and of the proposer's steps are like. */
import type { BankItem, StepRecord, WriteRecord } from '../../record.ts';
import { normalize } from '../../text/normalize.ts';
import { containsWords } from '../../text/score.ts';

export interface QuestionFigures {
  /** Hop count → share of the bank. */
  readonly hops: Readonly<Record<string, number>>;
  /** Share of the bank whose text occurs in it before. */
  readonly duplicates: number;
  /** Share whose label stands as whole words in another question of the bank. */
  readonly leaked: number;
  /** Share of a question's responses that give its commonest answer; mean over graded questions. */
  readonly voteShare: number;
  /** shares[k]: graded questions that k of their responses match. */
  readonly matches: readonly number[];
}

export function questionFigures(bank: WriteRecord['bank'], steps: readonly StepRecord[]): QuestionFigures {
  const graded = steps.flatMap(({ feedback }) => feedback);
  const n = Math.max(0, ...graded.map(({ matches }) => matches.length));
  const ks = graded.map(({ matches }) => matches.filter(Boolean).length);
  return {
    hops: shares(bank.map(({ hops }) => hops)),
    duplicates: bank.length === 0 ? Number.NaN : 1 - new Set(bank.map(({ question }) => question)).size / bank.length,
    leaked: leakedShare(bank),
    voteShare: meanOf(graded.map(({ responses }) => commonest(responses))),
    matches: Array.from({ length: n + 1 }, (_, k) => ks.filter((own) => own === k).length / Math.max(1, ks.length)),
  };
}

const meanOf = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0) / values.length;

function shares(values: readonly number[]): Record<string, number> {
  const out: Record<string, number> = {};
  for (const value of [...values].sort()) out[value] = (out[value] ?? 0) + 1 / values.length;
  return out;
}

function leakedShare(bank: readonly BankItem[]): number {
  const texts = [...new Set(bank.map(({ question }) => question))].map((question) => ({
    question,
    text: normalize(question),
  }));
  const leaks = new Map<string, readonly string[]>();
  const holders = (label: string): readonly string[] => {
    const found = leaks.get(label) ?? texts.filter(({ text }) => containsWords(text, label)).map((t) => t.question);
    leaks.set(label, found);
    return found;
  };
  const leaked = bank.filter((item) => holders(normalize(item.label)).some((question) => question !== item.question));
  return leaked.length / bank.length;
}

function commonest(responses: readonly (string | null)[]): number {
  const counts = new Map<string, number>();
  for (const response of responses) {
    if (response === null) continue;
    const said = normalize(response);
    counts.set(said, (counts.get(said) ?? 0) + 1);
  }
  return Math.max(0, ...counts.values()) / Math.max(1, responses.length);
}
