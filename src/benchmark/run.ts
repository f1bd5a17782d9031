/**
 * Takes an exam with one strategy: batches of fixed ranges of the questions, each journalled once, so that a run that was
 * stopped goes on and ends with the same results. What an outage took is tried again at the end, and again by the next run.
 *
 *   batch/000 …         BatchRecord   the questions in order
 *   retry/000/000 …     BatchRecord   pass and batch, of the questions that were lost then
 */
import { gunzipSync, gzipSync } from 'node:zlib';
import type { Blobs, Scope } from '../store.ts';
import type { Attempt, Strategy } from '../strategy.ts';
import { Interrupted } from '../util/error.ts';
import { type ExamQuestion, failed, type ItemResult, type Outcome, outcomeOf, scoreItem } from './result.ts';

export interface BatchRecord {
  readonly kind: 'batch';
  /** Places in the exam. */
  readonly questions: readonly number[];
  /** In the order of `questions`. */
  readonly outcomes: readonly Outcome[];
  /** Blob: gzipped JSONL of AttemptRecord, in the same order. */
  readonly rollouts: string;
}

/** One line of a rollouts blob. */
export interface AttemptRecord extends Attempt, Pick<ExamQuestion, 'id' | 'set' | 'question'> {}

export interface ExamProgress {
  readonly done: number;
  readonly total: number;
  /** Questions that this process has put to the strategy; the others come from the journal. */
  readonly fresh: number;
  readonly failed: number;
}

export interface ExamRun {
  /** In the order of the questions. */
  readonly items: readonly ItemResult[];
  /** Where the attempt at each question is. */
  readonly attempts: readonly { readonly blob: string; readonly line: number }[];
}

export interface ExamSettings {
  readonly questions: readonly ExamQuestion[];
  readonly strategy: Strategy;
  /** Questions at once. Part of what the results depend on. */
  readonly batch: number;
  readonly scope: Scope;
  readonly signal: AbortSignal;
  readonly report: (progress: ExamProgress) => void;
}

/** Passes over lost questions that one process makes. */
const PASSES = 2;

const pad = (n: number): string => String(n).padStart(3, '0');

/** @throws Interrupted between two batches when `signal` asks for it. */
export async function takeExam(settings: ExamSettings): Promise<ExamRun> {
  const { questions, strategy, scope, signal, report } = settings;
  const outcomes: Outcome[] = [];
  const attempts: ExamRun['attempts'][number][] = [];
  let fresh = 0;

  const batches = async (prefix: string, places: readonly number[]): Promise<void> => {
    for (let b = 0; b * settings.batch < places.length; b++) {
      if (signal.aborted) throw new Interrupted('stopped between two batches');
      const range = places.slice(b * settings.batch, (b + 1) * settings.batch);
      const record = await scope.once<BatchRecord>(`${prefix}/${pad(b)}`, async () => {
        fresh += range.length;
        return runBatch(strategy, questions, range, scope.blobs);
      });
      record.questions.forEach((place, line) => {
        outcomes[place] = record.outcomes[line]!;
        attempts[place] = { blob: record.rollouts, line };
      });
      const lost = outcomes.filter(failed).length;
      report({ done: outcomes.length, total: questions.length, fresh, failed: lost });
    }
  };

  await batches(
    'batch',
    questions.map((_, i) => i),
  );
  let passes = 0;
  for (let pass = 0; passes < PASSES; pass++) {
    const lost = outcomes.flatMap((outcome, i) => (failed(outcome) ? [i] : []));
    if (lost.length === 0) break;
    const before = fresh;
    await batches(`retry/${pad(pass)}`, lost);
    if (fresh > before) passes++;
  }
  return { items: questions.map((question, i) => scoreItem(question, outcomes[i]!)), attempts };
}

async function runBatch(
  strategy: Strategy,
  questions: readonly ExamQuestion[],
  places: readonly number[],
  blobs: Blobs,
): Promise<BatchRecord> {
  const asked = places.map((place) => questions[place]!);
  const attempts = await strategy.answer(asked);
  const lines = attempts.map((attempt, i): AttemptRecord => {
    const { id, set, question } = asked[i]!;
    return { id, set, question, ...attempt };
  });
  return {
    kind: 'batch',
    questions: places,
    outcomes: attempts.map(outcomeOf),
    rollouts: await blobs.put(gzipSync(lines.map((line) => `${JSON.stringify(line)}\n`).join(''))),
  };
}

/** The attempts of an exam, in the order of its questions. */
export async function* attemptsOf({ attempts }: ExamRun, blobs: Pick<Blobs, 'get'>): AsyncGenerator<AttemptRecord> {
  let blobOpen = '';
  let lines: readonly string[] = [];
  for (const { blob, line } of attempts) {
    if (blob !== blobOpen)
      lines = gunzipSync(await blobs.get(blob))
        .toString('utf8')
        .split('\n');
    blobOpen = blob;
    yield JSON.parse(lines[line]!);
  }
}
