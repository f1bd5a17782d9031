/**
 * Replies of a judge kept on disk by the content of what was asked: one append-only file, so an interrupted audit goes on and
 * a finished one costs nothing again. Failed requests are not kept. A reply that cannot be read serves until the end of this
 * session alone, and stands in the file under a key of its own, for people: the next session asks again.
 */
import { join } from 'node:path';
import type { Chat, ChatReply, ChatRequest } from '../../chat.ts';
import { openJournal } from '../../store/journal.ts';
import { canonical } from '../../store/json.ts';
import { acquireLock } from '../../store/lock.ts';
import { makeFolder } from '../../util/disk.ts';
import { contentId } from '../../util/id.ts';

/** What the replies cost that were used, whether in this session or before. */
export interface JudgeCost {
  readonly requests: number;
  /** Of `requests`, those that the cache answered. */
  readonly cached: number;
  /** Of `requests`, replies that could not be read. */
  readonly unreadable: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
}

export interface CachedChat extends Chat {
  cost(): JudgeCost;
  close(): Promise<void>;
}

type Kept = Pick<ChatReply, 'text' | 'finish' | 'usage'>;

/** UserError: another process uses the folder. A last line torn by a crash is cut. */
export async function cachedChat(chat: Chat, dir: string): Promise<CachedChat> {
  await makeFolder(dir);
  const release = acquireLock(join(dir, 'lock'));
  const journal = await openJournal(join(dir, 'replies.jsonl')).catch((error) => {
    release();
    throw error;
  });
  const idOf = ({ messages, maxTokens, temperature, stop }: ChatRequest): string =>
    contentId(canonical([chat.name, messages, maxTokens, temperature, stop ?? null]));
  let cost: JudgeCost = { requests: 0, cached: 0, unreadable: 0, promptTokens: 0, completionTokens: 0 };
  const unreadable = new Map<string, Kept>();
  let last: Promise<unknown> = Promise.resolve();

  async function reply(requests: readonly ChatRequest[]): Promise<readonly ChatReply[]> {
    const ids = requests.map(idOf);
    const missing = [...new Map(ids.map((id, i) => [id, requests[i]!]))].filter(
      ([id]) => !journal.has(id) && !unreadable.has(id),
    );
    const asked = missing.length === 0 ? [] : await chat.reply(missing.map(([, request]) => request));
    const failures = new Map<string, ChatReply>();
    for (const [i, [id, request]] of missing.entries()) {
      const { error, ...kept } = asked[i]!;
      if (error !== undefined) {
        failures.set(id, asked[i]!);
        continue;
      }
      const readable = request.reads?.(kept.text) ?? true;
      if (!readable) unreadable.set(id, kept);
      const key = readable ? id : `unreadable/${id}`;
      if (!journal.has(key)) await journal.append(key, kept satisfies Kept, 0);
    }
    const sent = new Set(missing.map(([id]) => id));
    const replies: ChatReply[] = [];
    for (const id of ids) {
      const failure = failures.get(id);
      if (failure !== undefined) {
        replies.push(failure);
        continue;
      }
      const kept = unreadable.get(id) ?? ((await journal.get(id)).value as unknown as Kept);
      cost = {
        requests: cost.requests + 1,
        cached: cost.cached + (sent.has(id) ? 0 : 1),
        unreadable: cost.unreadable + (unreadable.has(id) ? 1 : 0),
        promptTokens: cost.promptTokens + kept.usage.prompt,
        completionTokens: cost.completionTokens + kept.usage.completion,
      };
      replies.push(kept);
    }
    return replies;
  }

  return {
    name: chat.name,
    // One call at a time: two of them could ask for the same thing.
    reply(requests) {
      const job = last.then(() => reply(requests));
      last = job.catch(() => {});
      return job;
    },
    cost: () => cost,
    async close() {
      await last;
      await journal.close();
      release();
    },
  };
}
