/** `crossfold bank RUN`: the questions that a system of a run admitted, as JSON Lines for a replay or for anything else. */
import { Command } from 'commander';
import { type BankQuestion, bankLine, bankOfRun, rewordBank, sampleBank } from '../recipe/replay/bank.ts';
import { worldAndExam } from '../recipe/task.ts';
import { openReader, type RunReader } from '../store/read.ts';
import { replaceFile } from '../util/disk.ts';
import { UserError } from '../util/error.ts';
import { countOption } from './count-option.ts';
import { helpExamples } from './examples.ts';
import { configOf } from './opened.ts';
import type { Terminal } from './terminal.ts';

interface Flags {
  readonly system?: string;
  readonly limit?: number;
  readonly wordings?: number;
  readonly out?: string;
}

export function bankCommand(terminal: Terminal): Command {
  return new Command('bank')
    .description('Export the questions a run admitted: one {id, question, label, source, hops} a line')
    .argument('<run>', 'folder of a run of evolve, compare or train r-zero, whose questions are its own')
    .option('--system <name>', 'whose questions (default: the first system of the run)')
    .addOption(countOption('--limit <n>', 'take so many questions, as replay does (default: all)'))
    .addOption(
      countOption('--wordings <n>', 'write each question in up to n wordings of its relations (miniature world only)'),
    )
    .option('--out <file>', 'write to this file (default: print)')
    .addHelpText(
      'after',
      helpExamples([
        ['crossfold bank runs/compare-quick-seed1 --out bank.jsonl', 'all rounds of the first system'],
        ['crossfold bank runs/compare-quick-seed1 --system crossfit | head -3', 'to look at'],
        ['crossfold bank runs/compare-quick-seed1 --limit 100 --wordings 3', 'a bank that asks every fact three times'],
      ]),
    )
    .action(async (run: string, { system, limit, wordings, out }: Flags) => {
      const reader = await openReader(run);
      const worded = wordings === undefined ? null : rewording(reader, wordings);
      const all = await bankOfRun(reader, system);
      const asked = sampleBank(all, limit ?? all.length);
      const bank = worded === null ? asked : worded(asked);
      const lines = bank.map(bankLine);
      if (out === undefined) return terminal.out(lines.join('\n'));
      await replaceFile(out, lines.map((line) => `${line}\n`).join(''));
      const times = wordings === undefined ? '' : `: ${asked.length} of the run, in up to ${wordings} wordings each`;
      terminal.err(`${bank.length} questions in ${out}${times}`);
    });
}

type Bank = readonly BankQuestion[];

/** @throws UserError: the run is not about the miniature world. */
function rewording(reader: RunReader, n: number): (bank: Bank) => Bank {
  const { task } = configOf(reader);
  if (task.kind !== 'world')
    throw new UserError(
      `--wordings is ${n}, but ${reader.dir} is about the documents ${task.path}; only questions of the miniature world can be reworded, so leave it out`,
    );
  const { world } = worldAndExam(task);
  return (bank) => rewordBank(bank, world, n);
}
