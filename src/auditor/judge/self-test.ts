/**
 * What a judge must show before it is believed: that gold answer and prediction reach it under their own names. The prediction
 * below states the whole gold answer; swapped, it leaves out a part of it. A judge whose verdict does not flip is refused.
 */
import type { Chat } from '../../chat.ts';
import { type Ask, askAll, replied } from '../../matcher/judge/ask.ts';
import { askSame } from '../../matcher/judge.ts';
import { UserError } from '../../util/error.ts';
import { askVerdicts } from './prompt.ts';

const QUESTION = 'Which river flows through the town, and what is it a tributary of, if that is known?';
const CALL = { gold: 'Oker', prediction: 'The river is the Oker, a tributary of the Aller' };

interface Probe {
  readonly expected: boolean;
  readonly about: string;
  readonly ask: Ask<unknown>;
  readonly verdict: (chat: Chat) => Promise<boolean | null>;
}

function graded(gold: string, prediction: string, expected: boolean): Probe {
  const ask = askVerdicts({ question: QUESTION, gold, predictions: [prediction] });
  return {
    expected,
    about: `gold "${gold}", prediction "${prediction}"`,
    ask,
    verdict: async (chat) => (await askAll(chat, [ask]))[0]?.[0] ?? null,
  };
}

function same(a: string, b: string, expected: boolean): Probe {
  const ask = askSame({ question: 'When was it signed?', a, b });
  return {
    expected,
    about: `"${a}" and "${b}" as answers to one question`,
    ask,
    verdict: async (chat) => (await askAll(chat, [ask]))[0] ?? null,
  };
}

const AUDITOR: readonly Probe[] = [graded(CALL.gold, CALL.prediction, true), graded(CALL.prediction, CALL.gold, false)];
const MATCHER: readonly Probe[] = [
  same('4 July 1776', 'July 4th, 1776', true),
  same('4 July 1776', '4 July 1777', false),
];

/** UserError: the judge fails, with what it said. InfraError: it does not answer. */
export async function selfTest(chat: Chat, roles: { readonly auditor: boolean; readonly matcher: boolean }) {
  const probes = [...(roles.auditor ? AUDITOR : []), ...(roles.matcher ? MATCHER : [])];
  for (const { expected, about, ask, verdict } of probes) {
    const found = await verdict(chat);
    if (found === expected) continue;
    const [reply] = await replied(chat, [ask]);
    const said = reply!.text.trim().slice(0, 200);
    throw new UserError(
      `judge ${chat.name} fails its self-test on ${about}: expected ${words(expected)}, it gives ${words(found)}. It said: ${JSON.stringify(said)}. Use another --judge-model.`,
    );
  }
}

const words = (verdict: boolean | null): string => (verdict === null ? 'no verdict' : verdict ? 'yes' : 'no');
