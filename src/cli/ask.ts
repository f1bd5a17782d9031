/** `crossfold ask`: one question to the evolved solver, with its searches and what it read. */
import { Command } from 'commander';
import type { Engine } from '../engine.ts';
import { engineAt } from '../recipe/address.ts';
import { ask } from '../recipe/ask.ts';
import { openRunEngine } from '../recipe/run-engine.ts';
import { sharedOf } from '../recipe/systems.ts';
import type { EvaluationRecord } from '../record.ts';
import { visible } from '../report/visible.ts';
import type { Hit } from '../retriever.ts';
import type { RunReader } from '../store/read.ts';
import { BLANK } from '../text/cloze/statement.ts';
import type { Task } from '../train/context.ts';
import type { Rollout } from '../types.ts';
import { UserError } from '../util/error.ts';
import { helpExamples } from './examples.ts';
import { memoryBlobs } from './memory-blobs.ts';
import { openedRun } from './opened.ts';
import { openProgress } from './progress.ts';
import type { Terminal } from './terminal.ts';

interface Flags {
  readonly run: string;
  readonly system?: string;
  readonly engine?: string;
  readonly json?: boolean;
}

/** A solver that a round left behind. */
export interface Solver {
  readonly system: string;
  readonly round: number;
  readonly policy: string;
}

export interface Search {
  readonly queries: readonly string[];
  /** What came back instead of passages. */
  readonly notice: string | null;
  readonly passages: readonly { readonly title: string; readonly source: string; readonly text: string }[];
}

/** Far more than any policy here can read; a tokenizer should not be handed a book. */
const LONGEST_QUESTION = 2000;
/** The model is that of the run, and there is no run to go on with. */
const WORDS = { model: null, again: 'ask again' } as const;

function checkQuestion(question: string): void {
  if (question.trim() === '') throw new UserError('the question is empty; put it in quotes after "ask"');
  if (question.length > LONGEST_QUESTION) {
    throw new UserError(`the question has ${question.length} characters; at most ${LONGEST_QUESTION} are read`);
  }
}

export function askCommand(terminal: Terminal): Command {
  return new Command('ask')
    .description('Put a question to the last solver of a run; shows its searches and the passages it read')
    .argument('<question>', 'for documents: a sentence of theirs with a blank, written ____')
    .requiredOption('--run <dir>', 'folder of a run of evolve, compare or train')
    .option('--system <name>', 'whose solver (default: the last system of the run)')
    .option('--engine <spec>', 'where the server of the run is now: tinker:URL (default: where it was last)')
    .option('--json', 'print the answer as JSON')
    .addHelpText(
      'after',
      helpExamples([
        ['crossfold ask "hometown of Ingrid Pryce ?" --run runs/compare-quick-seed1', 'the miniature world'],
        ['crossfold ask "It was founded in ____ ." --run runs/evolve-crossfit-quick-handbook-seed1', 'documents'],
      ]),
    )
    .action(async (question: string, flags: Flags) => {
      checkQuestion(question);
      const progress = openProgress(terminal, 0, flags.json === true);
      try {
        progress.note('opening the run');
        const { reader, config: last, systems, task } = await openedRun(flags.run);
        const config = flags.engine === undefined ? last : engineAt(flags.engine, last);
        if (config.task.kind === 'docs' && !question.includes(BLANK)) {
          throw new UserError(
            `question "${question}": expected a statement of the documents with a blank, written ${BLANK}`,
          );
        }
        const solver = await lastSolver(reader, systems, flags.system);
        progress.note('starting the engine');
        const blobs = memoryBlobs(reader.blobs);
        const engine = await openRunEngine({ ...config, workers: 1 }, blobs, progress.warn, WORDS);
        try {
          const rollout = await ask(question, engine, task, solver.policy, config.topK);
          const searches = await searchesOf(rollout, task, config.topK);
          progress.close();
          if (flags.json) terminal.json({ question, ...solver, answer: rollout.answer, stop: rollout.stop, searches });
          else terminal.out(answerText(solver, rollout, searches, repliesOf(rollout, engine), terminal));
        } finally {
          await engine.close();
        }
      } finally {
        progress.close();
      }
    });
}

/** The solver of the last finished round; round 1 is everybody's. @throws UserError when no round is finished. */
export async function lastSolver(reader: RunReader, systems: readonly string[], wanted?: string): Promise<Solver> {
  if (wanted !== undefined && !systems.includes(wanted)) {
    throw new UserError(`--system is "${wanted}"; this run has ${systems.join(', ')}`);
  }
  const names = wanted === undefined ? systems : [wanted];
  const exams: EvaluationRecord[] = [];
  for (const key of reader.keys().filter((k) => /(^|\/)round\d+\/evaluate$/.test(k))) {
    const record = (await reader.get(key)) as unknown as EvaluationRecord;
    if (names.some((name) => [name, sharedOf(name)].includes(record.system))) exams.push(record);
  }
  const last = exams.at(-1);
  if (last === undefined) {
    throw new UserError(
      `${reader.dir}: no round is finished yet; let the run go on (the command that started it continues it)`,
    );
  }
  return { system: last.system, round: last.round, policy: last.policy };
}

/** Search is deterministic: asking again yields the passages that the policy saw. */
async function searchesOf(rollout: Rollout, { retriever }: Task, topK: number): Promise<Search[]> {
  const out: Search[] = [];
  for (const turn of rollout.turns) {
    if (turn.kind !== 'search') continue;
    const lists: readonly (readonly Hit[])[] =
      turn.notice === undefined ? await retriever.search(turn.queries, topK) : [];
    const hits = lists.flat().filter(({ passage }) => turn.passages.includes(passage.id));
    out.push({
      queries: turn.queries,
      notice: turn.notice ?? null,
      passages: hits.map(({ passage: { title, source, text } }) => ({ title, source, text })),
    });
  }
  return out;
}

const repliesOf = ({ turns }: Rollout, { tokenizer }: Engine): string[] =>
  turns.flatMap((turn) => (turn.kind === 'reply' ? [tokenizer.decode(turn.tokens)] : []));

function answerText(
  { system, round }: Solver,
  rollout: Rollout,
  searches: readonly Search[],
  replies: readonly string[],
  { colours }: Terminal,
): string {
  const { bold, dim } = colours.out;
  const lines = searches.flatMap(({ queries, notice, passages }) =>
    notice !== null
      ? [`Notice    ${notice.replaceAll('_', ' ')}`]
      : [
          `Search    ${visible(queries.join(' | '))}`,
          ...passages.flatMap(({ title, source, text }) => [
            `  ${bold(visible(title))} ${dim(`[${visible(source)}]`)}`,
            `    ${visible(text.replace(/\s+/g, ' '))}`,
          ]),
        ],
  );
  const answer =
    rollout.answer === null
      ? `none (${visible(rollout.error ?? rollout.stop)}); it last said: ${visible(replies.at(-1) ?? 'nothing')}`
      : bold(visible(rollout.answer));
  return [
    ...lines,
    '',
    `Answer    ${answer}`,
    dim(`          solver of ${system}, round ${round}; it may be wrong: read the passages`),
  ].join('\n');
}
