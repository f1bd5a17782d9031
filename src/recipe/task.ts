/** What the agents live in, opened from the settings: a generated world, or a folder of documents. A row per kind. */
import { clozeAuditor } from '../auditor/cloze.ts';
import { worldAuditor } from '../auditor/world.ts';
import type { Tokenizer } from '../engine.ts';
import { readHopMix, restrictHops } from '../method/schedule.ts';
import { bm25 } from '../retriever/bm25.ts';
import { readAll } from '../retriever/corpus/read.ts';
import { clozeQuestions } from '../text/cloze/questions.ts';
import { clozePassages } from '../text/cloze/snippets.ts';
import { clozesOf } from '../text/cloze/spans.ts';
import { cloze } from '../text/dialect/cloze.ts';
import { compact } from '../text/dialect/compact.ts';
import type { Task } from '../train/context.ts';
import { miniLimits } from '../train/pretrain/mini-task.ts';
import { readerLimits } from '../train/pretrain/reader-task.ts';
import type { Passage, Question, Source } from '../types.ts';
import { UserError } from '../util/error.ts';
import { rng } from '../util/rng.ts';
import { noisy } from '../world/noisy.ts';
import { factOf, goldQuestions } from '../world/question.ts';
import { generateWorld, type World } from '../world/world.ts';
import type { EvolveConfig } from './config.ts';

type TaskOf<K extends EvolveConfig['task']['kind']> = Extract<EvolveConfig['task'], { kind: K }>;

/** `warn` hears of documents that cannot be used. @throws UserError when the task cannot be made of its settings. */
export function openTask(
  config: EvolveConfig,
  tokenizer: Tokenizer,
  warn: (text: string) => void = () => {},
): Promise<Task> {
  switch (config.task.kind) {
    case 'world':
      return openWorld(config, config.task);
    case 'docs':
      return openDocs(config, config.task, tokenizer, warn);
    default:
      return config.task satisfies never;
  }
}

/** The world of a run and its held-out questions: what is written to disk is what the run is examined on. */
export function worldAndExam({ kind: _, goldPerHop, ...options }: TaskOf<'world'>): {
  readonly world: World;
  readonly gold: readonly Question[];
} {
  const world = generateWorld(options);
  return { world, gold: goldQuestions(world, goldPerHop, 'exam') };
}

async function openWorld(config: EvolveConfig, settings: TaskOf<'world'>): Promise<Task> {
  const { world, gold } = worldAndExam(settings);
  const sources = new Map(world.sources.map((s) => [s.id, s]));
  if (config.sources > sources.size) {
    throw new UserError(
      `sources: ${config.sources}, but the world has ${sources.size} entities; give at most that many`,
    );
  }
  return {
    name: `world ${settings.seed}`,
    dialect: compact,
    retriever: noisy(bm25(world.passages, { fields: 'title' }), world),
    auditor: worldAuditor(world),
    sources: rng(config.seed, 'pool')
      .shuffle([...sources.keys()])
      .slice(0, config.sources),
    passages: world.passages.length,
    hopMix: readHopMix(config.hopMix),
    limits: miniLimits,
    gold,
    factOf,
    material: (source) => sources.get(source)!,
    sourceText: (source) => textOf(sources.get(source)),
  };
}

const textOf = (source: Source | undefined): string => (source ? `${source.title}\n${source.text}` : '');

/** One document in five is kept for the exam: nothing is written from it. */
const HELD_OUT = 5;

async function openDocs(
  config: EvolveConfig,
  settings: TaskOf<'docs'>,
  tokenizer: Tokenizer,
  warn: (text: string) => void,
): Promise<Task> {
  const documents = (await readAll(settings.path, warn)).map((source) => {
    const passages = clozePassages(source, tokenizer);
    return { source, passages, askable: passages.filter((p) => clozesOf(p.text).length > 0) };
  });
  const usable = documents.filter((d) => d.askable.length > 0);
  if (usable.length < 2) {
    throw new UserError(
      `${settings.path}: ${usable.length} of ${documents.length} documents have a sentence with a name, number, date or identifier to ask about; at least 2 are needed`,
    );
  }
  const order = rng(config.seed, 'pool').shuffle(usable);
  const heldOut = order.slice(0, Math.max(1, Math.floor(order.length / HELD_OUT)));
  const pool = order.slice(heldOut.length, heldOut.length + config.sources);
  const bySource = new Map(documents.map((d) => [d.source.id, d]));
  const all = documents.flatMap((d) => d.passages);
  return {
    name: `documents ${settings.path}`,
    dialect: cloze,
    retriever: bm25(all),
    auditor: clozeAuditor(all),
    sources: pool.map((d) => d.source.id),
    passages: all.length,
    hopMix: restrictHops(readHopMix(config.hopMix), [1]),
    limits: readerLimits,
    gold: exam(
      heldOut.flatMap((d) => d.askable),
      settings.gold,
    ),
    material(source, key) {
      const { source: document, askable } = bySource.get(source)!;
      const passage = rng('material', key).pick(askable);
      return { id: source, title: document.title, text: passage.text };
    },
    sourceText: (source) => textOf(bySource.get(source)?.source),
  };
}

/** Several rounds over the passages until there are enough questions, each once. */
function exam(passages: readonly Passage[], n: number): Question[] {
  const out = new Map<string, Question>();
  for (let pass = 0; out.size < n && pass < 20; pass++) {
    for (const q of clozeQuestions(passages, passages.length, `exam ${pass}`)) {
      if (out.size >= n) break;
      if (out.has(q.question)) continue;
      const label = { answers: [q.answer], from: 'gold' } as const;
      out.set(q.question, { id: `exam ${out.size}`, text: q.question, source: q.source, hops: 1, label });
    }
  }
  return [...out.values()];
}
