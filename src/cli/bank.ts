/** `crossfold bank RUN`: the questions that a system of a run admitted, as JSON Lines for a replay or for anything else. */
import { Command } from 'commander';
import { bankLine, bankOfRun } from '../recipe/replay/bank.ts';
import { openReader } from '../store/read.ts';
import { replaceFile } from '../util/disk.ts';
import { helpExamples } from './examples.ts';
import type { Terminal } from './terminal.ts';

export function bankCommand(terminal: Terminal): Command {
  return new Command('bank')
    .description('Export the questions a run admitted: one {id, question, label, source, hops} a line')
    .argument('<run>', 'folder of a run of evolve or compare')
    .option('--system <name>', 'whose questions (default: the first system of the run)')
    .option('--out <file>', 'write to this file (default: print)')
    .addHelpText(
      'after',
      helpExamples([
        ['crossfold bank runs/compare-quick-seed1 --out bank.jsonl', 'all rounds of the first system'],
        ['crossfold bank runs/compare-quick-seed1 --system crossfit | head -3', 'to look at'],
      ]),
    )
    .action(async (run: string, { system, out }: { system?: string; out?: string }) => {
      const bank = await bankOfRun(await openReader(run), system);
      const lines = bank.map(bankLine);
      if (out === undefined) return terminal.out(lines.join('\n'));
      await replaceFile(out, lines.map((line) => `${line}\n`).join(''));
      terminal.err(`${bank.length} questions in ${out}`);
    });
}
