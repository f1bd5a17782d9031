/**
 * Questions to a judge whose reply must be JSON of a given form. A malformed reply is asked for once more, then there is no
 * verdict; an outage is never one.
 */
import type { Chat, ChatReply, ChatRequest, Message } from '../../chat.ts';
import { jsonObjects } from '../../text/json-reply.ts';
import { InfraError } from '../../util/error.ts';
import { contentId } from '../../util/id.ts';

export interface Ask<T> {
  readonly messages: readonly Message[];
  /** Null when the object has not the form asked for. */
  readonly read: (object: Readonly<Record<string, unknown>>) => T | null;
}

/** Room for judges that think before they answer. */
const MAX_TOKENS = 2048;
/** What was answered is kept from batch to batch. */
const BATCH = 32;

/** In the order of `asks`; null where both replies were malformed. Equal questions are asked once. InfraError: no reply. */
export async function askAll<T>(chat: Chat, asks: readonly Ask<T>[]): Promise<(T | null)[]> {
  const ids = asks.map(({ messages }) => contentId(JSON.stringify(messages)));
  const distinct = new Map(ids.map((id, i) => [id, asks[i]!]));
  const answers = new Map<string, T | null>();
  const waiting = [...distinct];
  for (let from = 0; from < waiting.length; from += BATCH) {
    const batch = waiting.slice(from, from + BATCH);
    const replies = await replied(
      chat,
      batch.map(([, ask]) => ask),
    );
    batch.forEach(([id, { read }], i) => {
      answers.set(id, readReply(replies[i]!.text, read));
    });
    const again = batch.flatMap(([id, ask], i) => (answers.get(id) === null ? [{ id, ask, reply: replies[i]! }] : []));
    const corrected = await replied(
      chat,
      again.map(({ ask, reply }) => ({
        ...ask,
        messages: [
          ...ask.messages,
          { role: 'assistant', content: reply.text.slice(0, LONGEST_QUOTED) || '(nothing)' },
          { role: 'user', content: CORRECTION },
        ],
      })),
    );
    again.forEach(({ id, ask }, i) => {
      answers.set(id, readReply(corrected[i]!.text, ask.read));
    });
  }
  return ids.map((id) => answers.get(id)!);
}

const LONGEST_QUOTED = 2000;
const CORRECTION =
  'That is not the JSON object that was asked for. Reply with that object alone, without any other words.';

/** InfraError: no reply. */
export async function replied(chat: Chat, asks: readonly Ask<unknown>[]): Promise<readonly ChatReply[]> {
  if (asks.length === 0) return [];
  const requests = asks.map(
    ({ messages, read }): ChatRequest => ({
      messages,
      maxTokens: MAX_TOKENS,
      temperature: 0,
      key: contentId(JSON.stringify(messages)),
      reads: (text) => readReply(text, read) !== null,
    }),
  );
  const replies = await chat.reply(requests);
  const failed = replies.find(({ error }) => error !== undefined);
  if (failed !== undefined)
    throw new InfraError(
      `judge ${chat.name}: ${failed.error}. No verdict was made of it; what was answered is kept, and the same command goes on from there.`,
    );
  return replies;
}

const THOUGHT = /<think>[\s\S]*?<\/think>/g;

/** What the reply says after its thoughts, where it says one thing alone: a model may recite both of the forms it may use. */
function readReply<T>(text: string, read: Ask<T>['read']): T | null {
  const said = jsonObjects(text.replace(THOUGHT, '')).flatMap((object) => {
    const value = read(object);
    return value === null ? [] : [value];
  });
  return new Set(said.map((value) => JSON.stringify(value))).size === 1 ? said[0]! : null;
}
