/** Judges of known character. They read the JSON of a request as a server's model would. */
import type { Chat, ChatReply, ChatRequest } from '../../src/chat.ts';
import { normalize } from '../../src/text/normalize.ts';
import { containsWords } from '../../src/text/score.ts';

type Call =
  | { readonly kind: 'reference'; readonly question: string; readonly source: string }
  | {
      readonly kind: 'grade';
      readonly question: string;
      readonly gold: string;
      readonly predictions: readonly { readonly id: number; readonly text: string }[];
    }
  | { readonly kind: 'same'; readonly first: string; readonly second: string };

type Asked = Pick<ChatRequest, 'messages'>;

export function callOf({ messages }: Asked): Call {
  const call = JSON.parse(messages.find(({ role }) => role === 'user')!.content);
  const kind = 'source' in call ? 'reference' : 'gold' in call ? 'grade' : 'same';
  return { kind, ...call };
}

/** "The X is in Y." settles "Where is the X?"; years are equal however a date is written. */
export function goodReply(request: Asked): string {
  const call = callOf(request);
  switch (call.kind) {
    case 'reference': {
      const thing = /^Where is the (\w+)\?$/.exec(call.question)?.[1];
      const found = new RegExp(`The ${thing} is in (\\w+)`).exec(call.source);
      return JSON.stringify(found ? { answer: found[1], evidence: found[0] } : { unresolved: true });
    }
    case 'grade': {
      const verdicts = call.predictions.map(({ id, text }) => ({
        id,
        verdict: /perhaps/.test(text)
          ? 'unresolved'
          : containsWords(normalize(text), normalize(call.gold))
            ? 'correct'
            : 'incorrect',
      }));
      return JSON.stringify({ verdicts });
    }
    case 'same': {
      const words = (text: string) =>
        new Set(
          normalize(text)
            .replace(/(\d)th\b/g, '$1')
            .split(' '),
        );
      const [a, b] = [words(call.first), words(call.second)];
      return JSON.stringify({ same: a.size === b.size && [...a].every((word) => b.has(word)) });
    }
    default:
      return call satisfies never;
  }
}

export const alwaysYes = (request: Asked): string => {
  const call = callOf(request);
  if (call.kind === 'reference') return goodReply(request);
  if (call.kind === 'same') return '{"same": true}';
  return JSON.stringify({ verdicts: call.predictions.map(({ id }) => ({ id, verdict: 'correct' })) });
};

export const verbose = (request: Asked): string =>
  `<think>Let me see {"same": "maybe"} …</think>\nSure! Here you are:\n\`\`\`json\n${goodReply(request)}\n\`\`\`\nAnything else?`;

/** Malformed at first, right when asked again. */
export const clumsy = (request: Asked): string =>
  request.messages.length > 2 ? goodReply(request) : 'It is correct, I think.';

export interface FakeJudge extends Chat {
  readonly asked: ChatRequest[];
}

/** @param fails whether request number i (from 0) is lost to an outage. */
export function fakeJudge(
  say: (request: ChatRequest) => string,
  fails: (i: number) => boolean = () => false,
): FakeJudge {
  const asked: ChatRequest[] = [];
  return {
    name: 'fake',
    asked,
    reply: async (requests) =>
      requests.map((request): ChatReply => {
        const i = asked.push(request) - 1;
        const usage = { prompt: 100, completion: 10 };
        if (fails(i)) return { text: '', finish: 'stop', usage: { prompt: 0, completion: 0 }, error: 'HTTP 503' };
        return { text: say(request), finish: 'stop', usage };
      }),
  };
}
