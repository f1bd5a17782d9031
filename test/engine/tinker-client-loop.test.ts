/** The loop through the wire: what it journals is what it journals in process, also when the server or the client dies. */
import { mkdtempSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openLocalEngine } from '../../src/engine/local/local.ts';
import { openTinkerEngine } from '../../src/engine/tinker/client/client.ts';
import { seedOf } from '../../src/engine/tinker/client/completions.ts';
import { openTinkerServer } from '../../src/engine/tinker/server/server.ts';
import { tieredBlobs } from '../../src/engine/tinker/server/tiers.ts';
import type { Engine, Policy } from '../../src/engine.ts';
import { exact } from '../../src/matcher/exact.ts';
import { evolve } from '../../src/recipe/evolve.ts';
import { policyDir, readPolicy } from '../../src/recipe/policies.ts';
import { openTask } from '../../src/recipe/task.ts';
import type { EvaluationRecord, StepRecord } from '../../src/record.ts';
import { openRun } from '../../src/store/run.ts';
import { type Listening, listenOn } from '../../src/util/listen.ts';
import { tinyConfig } from '../e2e/tiny.ts';
import { memoryBlobs } from './fixture.ts';
import { TIMES } from './tinker-client-fixture.ts';

const CONFIG = tinyConfig({ systems: ['dr-zero'], rounds: 1, proposerSteps: 2, prompts: 6, admitted: 4 });

let root: string;
let inside: Engine;
let listening: Listening;
/** Asked before each request; what it gives is the answer. */
let hook: (path: string) => Response | null = () => null;
let restart: () => Promise<void>;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'crossfold-loop-'));
  const files = await readPolicy(policyDir('mini'));
  const blobs = tieredBlobs(memoryBlobs(), memoryBlobs());
  inside = await openLocalEngine({ ...files, blobs, workers: 1 });
  const open = () =>
    openTinkerServer({
      engine: inside,
      blobs,
      name: 'mini',
      tokenizerId: null,
      limits: { contextLength: inside.contextLength, vocabSize: files.config.vocabSize },
      eos: [],
      folder: join(root, 'server'),
    });
  let server = await open();
  restart = async () => {
    server = await open();
  };
  const fetch = (request: Request) => hook(new URL(request.url).pathname.split('/').at(-1)!) ?? server.fetch(request);
  listening = await listenOn(fetch, { host: '127.0.0.1', port: 0 }, 60_000);
});
afterAll(async () => {
  await listening.close(100);
  await inside.close();
  rmSync(root, { recursive: true, force: true });
});

/** @returns the journal's values by key. */
async function journal(name: string): Promise<Map<string, unknown>> {
  const lines = (await readFile(join(root, name, 'journal.jsonl'), 'utf8')).trim().split('\n');
  return new Map(lines.map((line) => JSON.parse(line)).map(({ key, value }) => [key, value]));
}

async function run(name: string, engine: Engine): Promise<void> {
  const opened = await openRun(join(root, name), {
    recipe: 'evolve',
    config: CONFIG,
    seed: CONFIG.seed,
    codeVersion: 'test',
    parents: [],
  });
  try {
    const task = await openTask(CONFIG, engine.tokenizer);
    const { signal } = new AbortController();
    await evolve({ config: CONFIG, run: opened, engine, task, matcher: exact, report: () => {}, signal });
  } finally {
    await opened.close();
  }
}

const client = () =>
  openTinkerEngine({ url: listening.url, base: 'mini', tokenizer: inside.tokenizer, times: TIMES, seed: 7 });

async function through(name: string): Promise<void> {
  const engine = await client();
  try {
    await run(name, engine);
  } finally {
    await engine.close();
  }
}

/** In process, with the random streams that the server gives the same requests. */
const renamed = (engine: Engine): Engine => {
  const wrap = (policy: Policy): Policy => ({
    id: policy.id,
    open(size) {
      const session = policy.open(size);
      return {
        sample: (requests, lane) =>
          session.sample(
            requests.map((r) => ({ ...r, key: `${seedOf(7, r.key)}/0` })),
            lane,
          ),
        close: () => session.close(),
      };
    },
  });
  return { ...engine, policy: async (id) => wrap(await engine.policy(id)) };
};

const near = (x: number): string => Math.abs(x).toFixed(3);
/** What does not depend on where weights are kept, nor on the order in which a batch was added up. */
const essence = (values: Map<string, unknown>) =>
  [...values].flatMap(([key, value]): object[] => {
    const record = value as StepRecord | EvaluationRecord | { kind: 'other' };
    if (record.kind === 'evaluation') return [{ key, em: record.em, searches: record.searches }];
    if (record.kind !== 'step') return [];
    const { feedback, reward, counts, hops, update, agreement } = record;
    const { loss, gradNorm, learningRate, trained } = update;
    return [
      {
        key,
        feedback: feedback.map(({ grader: _, ...rest }) => rest),
        reward: near(reward.mean),
        counts,
        hops,
        agreement,
        trained,
        learningRate,
        loss: near(loss),
        gradNorm: near(gradNorm),
      },
    ];
  });

describe('evolve through the wire', () => {
  it('journals what it journals in process, given the same random streams', { timeout: 120_000 }, async () => {
    await run('inside', renamed(inside));
    await through('wire');
    const [a, b] = [await journal('inside'), await journal('wire')];
    expect([...b.keys()]).toEqual([...a.keys()]);
    expect(essence(b)).toEqual(essence(a));
    expect(essence(b).length).toBeGreaterThan(5);
    const state = (b.get('round1/solver/001') as StepRecord).after;
    expect(state.optimizer).toMatch(/^tinker:\/\/.+\/weights\/s\d+$/);
    expect(state.policy).toBe(`${state.optimizer!.replace('/weights/', '/sampler_weights/')}#${state.optimizer}`);
  });

  it('and again when server and client die in the middle', { timeout: 120_000 }, async () => {
    let steps = 0;
    // The server is started anew under the client, twice: a step is lost, and made once.
    hook = (path) => {
      if (path === 'optim_step' && ++steps % 2 === 0) void restart();
      return null;
    };
    let asked = 0;
    // Then it is gone for good, twice: the run ends with one error, and the same command goes on.
    const dying = (after: number): void => {
      asked = 0;
      const before = hook;
      hook = (path) => (asked++ > after ? new Response('{}', { status: 503 }) : before(path));
    };
    dying(150);
    await expect(through('broken')).rejects.toThrow(/run the same command again/);
    hook = () => null;
    dying(40);
    await expect(through('broken')).rejects.toThrow(/run the same command again/);
    hook = () => null;
    await through('broken');
    const [a, b] = [await journal('wire'), await journal('broken')];
    expect(essence(b)).toEqual(essence(a));
  });
});
