import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Chat, ChatRequest } from '../../src/chat.ts';
import type { Retriever } from '../../src/retriever.ts';
import { type Lane, lockstep, type Services } from '../../src/rollout/lockstep.ts';
import { InfraError } from '../../src/util/error.ts';

const request = (content: string): ChatRequest => ({
  messages: [{ role: 'user', content }],
  maxTokens: 5,
  temperature: 0,
  key: content,
});
const contentOf = (r: ChatRequest): string => r.messages.at(-1)!.content;

interface Watched extends Services {
  /** Contents of each batch of requests, and queries of each search call, in the order they came. */
  readonly log: string[];
}

function services(over: Partial<Services> = {}, delay: () => number = () => 0): Watched {
  const log: string[] = [];
  const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, delay()));
  const chat: Chat = {
    name: 'echo',
    async reply(requests) {
      log.push(`ask ${requests.map(contentOf).join(' ')}`);
      await pause();
      return requests.map((r) => {
        const text = `re:${contentOf(r)}`;
        const usage = { prompt: 1, completion: 1 };
        return contentOf(r) === 'lost'
          ? { text: '', finish: 'stop', usage, error: 'the server is gone' }
          : { text, finish: 'stop', usage };
      });
    },
  };
  const retriever: Retriever = {
    fingerprint: 'namesake',
    async search(queries, k) {
      log.push(`search ${queries.join(' ')} top ${k}`);
      await pause();
      if (queries.includes('down')) throw new InfraError('search is down');
      return queries.map((q) => [{ passage: { id: q, source: q, title: q, text: q }, score: 1 }]);
    },
  };
  return { chat, retriever, topK: 3, eager: false, ...over, log };
}

/** Does the steps in order: `?x` searches for x, `x` asks x. Returns what came back. */
const doing =
  (...steps: readonly string[]) =>
  async (lane: Lane): Promise<string[]> => {
    const out: string[] = [];
    for (const step of steps) {
      if (step.startsWith('?')) out.push((await lane.search(step.slice(1))).map(({ passage }) => passage.id).join());
      else out.push((await lane.ask(request(step))).text);
    }
    return out;
  };

describe('lockstep', () => {
  test('serves what all wait for together, searches first, in the order of the tasks', async () => {
    const s = services();
    const out = await lockstep([doing('a1', 'a2'), doing('?b', 'b1'), doing(), doing('?d', '?d', 'd1')], s);
    expect(out).toEqual([['re:a1', 're:a2'], ['b', 're:b1'], [], ['d', 'd', 're:d1']]);
    // The search of d the second time is another call: it waits for nobody but those that run.
    expect(s.log).toEqual(['search b d top 3', 'search d top 3', 'ask a1 b1 d1', 'ask a2']);
  });

  test('batches do not depend on what came back first', async () => {
    const plan = fc.array(fc.array(fc.constantFrom('x', 'y', '?q', '?r'), { maxLength: 4 }), { maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(plan, fc.array(fc.nat(3), { minLength: 1 }), async (plans, delays) => {
        let i = 0;
        const [fast, slow] = [services(), services({}, () => delays[i++ % delays.length]!)];
        const tasks = plans.map((steps, t) => async (lane: Lane) => {
          // A task may do other things between its steps.
          await new Promise((resolve) => setTimeout(resolve, delays[t % delays.length]!));
          return doing(...steps)(lane);
        });
        const a = await lockstep(
          plans.map((steps) => doing(...steps)),
          fast,
        );
        const b = await lockstep(tasks, slow);
        expect(b).toEqual(a);
        expect(slow.log).toEqual(fast.log);
      }),
      { numRuns: 30 },
    );
  });

  test('eager waits for nobody', async () => {
    let free = (): void => {};
    const held = new Promise<void>((resolve) => {
      free = resolve;
    });
    const s = services({ eager: true });
    const stuck = async (): Promise<string[]> => {
      await held;
      return [];
    };
    const quick = async (lane: Lane): Promise<string[]> => {
      const out = await doing('?q', 'a')(lane);
      free();
      return out;
    };
    expect(await lockstep([stuck, quick], s)).toEqual([[], ['q', 're:a']]);
    expect(s.log).toEqual(['search q top 3', 'ask a']);
  });

  test('an outage is thrown where it was met, as an InfraError, and the others go on', async () => {
    const told = async (lane: Lane, step: string): Promise<string[]> => {
      try {
        return await doing(step)(lane);
      } catch (error) {
        return [`${(error as Error).name}: ${(error as Error).message}`];
      }
    };
    const tasks = ['lost', 'a', '?down', '?b'].map((step) => (lane: Lane) => told(lane, step));
    expect(await lockstep(tasks, services())).toEqual([
      ['InfraError: the server is gone'],
      ['re:a'],
      ['InfraError: search is down'],
      // One call for both.
      ['InfraError: search is down'],
    ]);
  });

  test('a bug ends all of them', async () => {
    const s = services();
    const buggy = async (lane: Lane): Promise<string[]> => {
      await lane.ask(request('a'));
      throw new TypeError('a bug');
    };
    await expect(lockstep([doing('x', 'y', 'z'), buggy], s)).rejects.toThrow('a bug');
    expect(s.log).toEqual(['ask x a']);
    const broken = services({
      chat: { name: 'broken', reply: () => Promise.reject(new InfraError('all of it is gone')) },
    });
    await expect(lockstep([doing('x'), doing('?q', 'y')], broken)).rejects.toThrow('all of it is gone');
  });

  test('a task wants one thing at a time', async () => {
    const greedy = (lane: Lane): Promise<unknown> => Promise.all([lane.ask(request('a')), lane.search('b')]);
    await expect(lockstep([greedy], services())).rejects.toThrow('one thing at a time');
  });

  test('no tasks', async () => {
    expect(await lockstep([], services())).toEqual([]);
  });
});
