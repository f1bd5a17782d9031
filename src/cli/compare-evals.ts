/** `crossfold compare-evals A B`: two evaluations of the same exam, question by question. */
import { Command, Option } from 'commander';
import { compareEvaluations } from '../benchmark/compare.ts';
import { readEvaluation } from '../benchmark/files.ts';
import { comparisonText } from '../report/evaluation/comparison.ts';
import { asMarkdown, asText } from '../report/evaluation/grid.ts';
import { helpExamples } from './examples.ts';
import { openProgress } from './progress.ts';
import type { Terminal } from './terminal.ts';

interface Flags {
  readonly force?: boolean;
  readonly markdown?: boolean;
  readonly json?: boolean;
}

export function compareEvalsCommand(terminal: Terminal): Command {
  return new Command('compare-evals')
    .description('Compare two evaluations of the same exam: paired differences, McNemar, Holm over the sets')
    .argument('<a>', 'folder of an evaluation (evaluate, or score --out)')
    .argument('<b>', 'folder of the other')
    .option('--force', 'compare even if corpus, index, top-k, turn budget, decoding or manifest differ')
    .addOption(new Option('--markdown', 'print the tables as Markdown').conflicts('json'))
    .option('--json', 'print all figures as JSON')
    .addHelpText(
      'after',
      helpExamples([
        ['crossfold compare-evals runs/eval-rag runs/eval-search', 'which of two strategies is better, and how surely'],
        ['crossfold compare-evals a b --markdown > table.md', 'for a paper'],
      ]),
    )
    .action(async (a: string, b: string, { force = false, markdown = false, json = false }: Flags) => {
      const progress = openProgress(terminal, 0, json);
      try {
        progress.note('comparing');
        const comparison = compareEvaluations(await readEvaluation(a), await readEvaluation(b), force);
        progress.close();
        if (json) return terminal.json(comparison);
        terminal.out(comparisonText(comparison, markdown ? asMarkdown : asText));
      } finally {
        progress.close();
      }
    });
}
