/**
 * Auditor `judge`: a model writes the reference from the source, then judges label and responses against it without being told
 * which is which (method.md section 5): they are one list, each distinct answer once, in an order drawn from the question
 * alone. A reference counts only when what it quotes is in the source. What the judge leaves open, or twice answers in no
 * readable form, stays unresolved; an outage is an InfraError.
 */
import type { Auditor, AuditQuestion, Verdict } from '../../auditor.ts';
import type { Chat } from '../../chat.ts';
import { answerKey } from '../../matcher/exact.ts';
import { askAll } from '../../matcher/judge/ask.ts';
import { rng } from '../../util/rng.ts';
import { askReference, askVerdicts, type Reference } from './prompt.ts';
import { quotes } from './quote.ts';

export interface JudgeSettings {
  readonly chat: Chat;
  /** Text of a source by its id; null when it is not at hand. Evidence that comes with a question goes before it. */
  readonly sourceText: (source: string) => string | null;
}

/** A reference, or why there is none. */
type Found = { readonly reference: Reference } | { readonly why: string };

export function judgeAuditor({ chat, sourceText }: JudgeSettings): Auditor {
  const textOf = ({ evidence, source }: AuditQuestion): string | null => evidence ?? sourceText(source);
  return {
    name: `judge ${chat.name}`,
    async judge(items) {
      const found = await references(chat, items, items.map(textOf));
      return await verdicts(chat, items, found);
    },
  };
}

async function references(
  chat: Chat,
  items: readonly AuditQuestion[],
  texts: readonly (string | null)[],
): Promise<Found[]> {
  const asks = items.flatMap(({ question }, i) => (texts[i] ? [askReference(question, texts[i])] : []));
  const answers = await askAll(chat, asks);
  let at = 0;
  return texts.map((text): Found => {
    if (!text) return { why: 'no text of the source' };
    const answer = answers[at++] ?? null;
    if (answer === null) return { why: 'the judge gave no readable reference' };
    const { reference } = answer;
    if (reference === null) return { why: 'the source does not settle the question' };
    return quotes(text, reference.evidence) ? { reference } : { why: 'the evidence quoted is not in the source' };
  });
}

async function verdicts(chat: Chat, items: readonly AuditQuestion[], found: readonly Found[]): Promise<Verdict[]> {
  const blind = items.map(predictionsOf);
  const asks = items.flatMap(({ question }, i) => {
    const own = found[i]!;
    const predictions = blind[i]!.map(({ text }) => text);
    if (!('reference' in own) || predictions.length === 0) return [];
    return [askVerdicts({ question, gold: own.reference.answer, predictions })];
  });
  const answers = await askAll(chat, asks);
  let at = 0;
  return items.map((item, i): Verdict => {
    const own = found[i]!;
    if (!('reference' in own)) return { resolved: false, why: own.why };
    const said = blind[i]!.length === 0 ? [] : answers[at++]!;
    if (said === null) return { resolved: false, why: 'the judge gave no readable verdict' };
    const byKey = new Map(blind[i]!.map(({ key }, p) => [key, said[p]!]));
    // An answer that says nothing is wrong.
    const right = (answer: string | null): boolean | null => (answer?.trim() ? byKey.get(answerKey(answer))! : false);
    const labelCorrect = right(item.label);
    if (labelCorrect === null) return { resolved: false, why: 'the judge could not tell whether the label is right' };
    return {
      resolved: true,
      reference: own.reference.answer,
      labelCorrect,
      responseCorrect: item.responses.map(right),
    };
  });
}

/** The distinct answers of a question, label among them, in an order that does not tell them apart. */
export function predictionsOf({ question, source, label, responses }: AuditQuestion) {
  const texts = [label, ...responses].flatMap((answer) => (answer?.trim() ? [answer.trim()] : [])).sort(byCodeUnit);
  const distinct = [...new Map(texts.map((text) => [answerKey(text), text]))].map(([key, text]) => ({ key, text }));
  return rng('judge', source, question).shuffle(distinct);
}

const byCodeUnit = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
