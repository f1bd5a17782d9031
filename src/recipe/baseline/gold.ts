/** Gold questions to train on: none is a question of the exam, by id or by text. A row per kind of task, or a file. */
import { loadQuestions } from '../../benchmark/load/questions.ts';
import { readHopMix } from '../../method/schedule.ts';
import type { BankItem } from '../../record.ts';
import { clozeQuestions } from '../../text/cloze/questions.ts';
import { normalize } from '../../text/normalize.ts';
import type { Task } from '../../train/context.ts';
import type { Hops, Question } from '../../types.ts';
import { UserError } from '../../util/error.ts';
import { goldQuestions } from '../../world/question.ts';
import type { EvolveConfig } from '../config.ts';
import { worldAndExam } from '../task.ts';

/** @throws UserError when there are too few. */
export function goldOfTask(config: EvolveConfig, task: Task, n: number): BankItem[] {
  switch (config.task.kind) {
    case 'world':
      return goldOfWorld(config, config.task, task, n);
    case 'docs':
      return goldOfDocuments(task, n);
    default:
      return config.task satisfies never;
  }
}

/** Chains of the world in the run's hop mix. A chain of the exam in another wording has the same id, so it is left out too. */
function goldOfWorld(
  { hopMix }: EvolveConfig,
  settings: Extract<EvolveConfig['task'], { kind: 'world' }>,
  { gold: exam }: Task,
  n: number,
): BankItem[] {
  const { world } = worldAndExam(settings);
  const weights = readHopMix(hopMix);
  const total = weights.reduce((sum, w) => sum + w, 0);
  const wanted = weights.map((weight) => Math.round((n * weight) / total));
  const drawn = goldQuestions(world, Math.max(...wanted) + settings.goldPerHop, 'train');
  const asked = asksAny(exam);
  return wanted.flatMap((count, i) =>
    drawn
      .filter((question) => question.hops === i + 1 && !asked(question))
      .slice(0, count)
      .map(itemOf),
  );
}

/** Blanks in documents that proposals may be written from; the exam's documents are none of them. */
function goldOfDocuments({ sources, material, gold: exam }: Task, n: number): BankItem[] {
  const found = new Map<string, BankItem>();
  const asked = asksAny(exam);
  for (let pass = 0; found.size < n && pass < PASSES; pass++) {
    const passages = sources.map((source) => ({ ...material(source, `gold ${pass}`), source }));
    for (const q of clozeQuestions(passages, passages.length, `train ${pass}`)) {
      const question = { id: `train ${found.size}`, text: q.question };
      if (found.size >= n || found.has(q.question) || asked(question)) continue;
      const { source, answer: label } = q;
      found.set(q.question, { id: question.id, question: q.question, label, source, hops: 1 });
    }
  }
  return [...found.values()];
}

/** Rounds over the documents, a passage of each a round. */
const PASSES = 50;

const asksAny = (exam: readonly Question[]) => {
  const ids = new Set(exam.map(({ id }) => id));
  const texts = new Set(exam.map(({ text }) => normalize(text)));
  return ({ id, text }: Pick<Question, 'id' | 'text'>): boolean => ids.has(id) || texts.has(normalize(text));
};

const itemOf = ({ id, text, source, hops, label: { answers } }: Question): BankItem => ({
  id,
  question: text,
  label: answers[0]!,
  ...(answers.length > 1 ? { aliases: answers.slice(1) } : {}),
  source,
  hops,
});

export interface FileGold {
  readonly items: readonly BankItem[];
  /** Questions of the file that the exam asks too; they are left out. */
  readonly overlap: number;
}

/** Questions of any upstream form. Each is a source of its own; hops are those its row names, else 1. @throws UserError */
export async function goldOfFile(path: string, { gold: exam }: Task, n: number): Promise<FileGold> {
  const { questions } = await loadQuestions(path, { set: 'train' });
  const asked = asksAny(exam);
  const free = questions.filter(({ id, question }) => !asked({ id, text: question }));
  if (free.length === 0) throw new UserError(`${path}: all of its ${questions.length} questions are in the exam`);
  const items = free.slice(0, n).map(({ id, question, golden, metadata }): BankItem => {
    const [label, ...aliases] = golden;
    const hops = hopsOf(metadata?.hops);
    return { id, question, label: label!, ...(aliases.length > 0 ? { aliases } : {}), source: id, hops };
  });
  return { items, overlap: questions.length - free.length };
}

const hopsOf = (named: unknown): Hops => (named === 2 || named === 3 || named === 4 ? named : 1);
