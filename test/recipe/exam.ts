/** A small exam in a folder, with a model that replies by script. As a program: takes it in the folder given, to be killed. */
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { type Manifest, manifestOf } from '../../src/benchmark/manifest.ts';
import type { EvaluationResult } from '../../src/benchmark/result.ts';
import { type Script, scriptedEngine } from '../../src/engine/scripted.ts';
import { configOf, type Examinee, evaluate } from '../../src/recipe/evaluate.ts';
import type { Retriever } from '../../src/retriever.ts';
import { openRun } from '../../src/store/run.ts';
import type { StrategyName } from '../../src/strategy/open.ts';

/** Two sets; number n is right when it is even, and the search knows all of them. */
export const exam: Manifest = manifestOf(
  Array.from({ length: 300 }, (_, i) => ({
    id: `${i < 200 ? 'nq' : 'musique'}_${i}`,
    set: i < 200 ? 'nq' : 'musique',
    question: `What is number ${i}?`,
    golden: [i % 2 === 0 ? `value ${i}` : 'another'],
  })),
);

export const answering: Script = (prompt) => {
  const n = /What is number (\d+)\?/.exec(prompt.slice(prompt.lastIndexOf('Question: ')))![1];
  if (prompt.includes('one query as <search>') && !prompt.includes('<information>\n'))
    return `<think>hm</think><search>What is number ${n}?</search><|im_end|>`;
  return `<think>hm</think><answer>value ${n}</answer><|im_end|>`;
};

export interface Watched extends Retriever {
  readonly queries: string[];
}

/** Finds one passage a query, after `delay` ms a call. */
export function retrieverOf(delay = 0): Watched {
  const queries: string[] = [];
  return {
    queries,
    fingerprint: 'namesake',
    async search(asked) {
      queries.push(...asked);
      if (delay > 0) await sleep(delay);
      return asked.map((q) => [{ passage: { id: q, source: q, title: q, text: `about ${q}` }, score: 1 }]);
    },
  };
}

export async function examinee(strategy: StrategyName, retriever: Retriever, topK = 3): Promise<Examinee> {
  const engine = scriptedEngine({ script: answering, tags: ['<|im_start|>', '<|im_end|>'] });
  return {
    engine,
    policy: await engine.policy('base'),
    kind: 'local',
    retriever,
    strategy,
    budget: { turns: 3, topK, maxTokens: 200 },
    dialect: 'search-r1',
  };
}

export async function take(
  dir: string,
  who: Examinee,
  signal = new AbortController().signal,
): Promise<EvaluationResult> {
  const config = configOf(who, exam);
  const run = await openRun(dir, { recipe: 'evaluate', config, seed: 0, codeVersion: '1', parents: [] });
  try {
    return await evaluate(who, exam, run, () => {}, signal);
  } finally {
    await run.close();
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [dir, strategy] = process.argv.slice(2) as [string, StrategyName];
  await take(dir, await examinee(strategy, retrieverOf(30)));
}
