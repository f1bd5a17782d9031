/** `crossfold search "query" --index DIR|URL`: the best passages, for people. */
import { Command, Option } from 'commander';
import { openRetriever } from '../recipe/open-retriever.ts';
import { visible, visibleLines } from '../report/visible.ts';
import { analyze, word } from '../retriever/analyze.ts';
import type { SearchMode } from '../retriever/index/open.ts';
import type { Hit } from '../retriever.ts';
import { UserError } from '../util/error.ts';
import { countOption } from './count-option.ts';
import { helpExamples } from './examples.ts';
import { openProgress } from './progress.ts';
import type { Terminal } from './terminal.ts';

interface Flags {
  readonly index: string;
  readonly k: number;
  readonly mode?: SearchMode;
  readonly encoder?: string;
  readonly json?: boolean;
}

/** As long as a passage; more is a mistake. */
const longestQuery = 10_000;

export function searchCommand(terminal: Terminal): Command {
  return new Command('search')
    .description('Search an index or a search server; shows the best passages with their scores')
    .argument('<query>', 'what to look for, in quotes')
    .requiredOption('--index <dir|url>', 'folder that "crossfold index" made, or the address of a search server')
    .addOption(countOption('-k, --k <n>', 'how many passages').default(3))
    .addOption(
      new Option('--mode <name>', 'by words, by meaning, or both (default: by words; both with --encoder)').choices([
        'bm25',
        'dense',
        'hybrid',
      ]),
    )
    .option('--encoder <spec>', 'the encoder of the index (default: where it was when the index was built)')
    .option('--json', 'print the hits as JSON')
    .addHelpText(
      'after',
      helpExamples([
        ['crossfold search "who wrote the handbook?" --index idx', 'three passages'],
        ['crossfold search "who wrote the handbook?" --index http://127.0.0.1:8000', 'ask a search server'],
        ['crossfold search "start the server" --index idx -k 10 --json', 'ten, for a program'],
      ]),
    )
    .action((query: string, flags: Flags) => search(query, flags, terminal));
}

async function search(query: string, { index: spec, k, mode, encoder, json }: Flags, terminal: Terminal) {
  if (query.trim() === '') throw new UserError('the query is empty; put it in quotes after "search"');
  if (query.length > longestQuery)
    throw new UserError(`the query has ${query.length} characters; at most ${longestQuery} are searched for`);
  const progress = openProgress(terminal, 0, json === true);
  try {
    progress.note('opening the index');
    const index = await openRetriever(spec, {
      ...(mode === undefined ? {} : { mode }),
      ...(encoder === undefined ? {} : { encoder }),
    });
    try {
      progress.note('searching');
      const [hits] = await index.search([query], k);
      progress.close();
      if (json) terminal.json({ query, fingerprint: index.fingerprint, hits: hits!.map(asJson) });
      else for (const line of hitLines(hits!, query, terminal)) terminal.out(line);
    } finally {
      await index.close();
    }
  } finally {
    progress.close();
  }
}

const asJson = ({ score, passage }: Hit) => ({ score, ...passage });

function hitLines(hits: readonly Hit[], query: string, { colours }: Terminal): readonly string[] {
  const { bold, dim } = colours.out;
  if (hits.length === 0) return ['No passage has a word of the query.'];
  const marked = highlighter(query, bold);
  return hits.flatMap(({ score, passage }, i) => [
    ...(i === 0 ? [] : ['']),
    `${bold(`${i + 1}`)}  ${score.toFixed(score < 1 ? 4 : 2)}  ${marked(visible(passage.title || '(no title)'))}  ${dim(visible(passage.id === passage.source ? passage.id : `${passage.id} of ${passage.source}`))}`,
    ...visibleLines(passage.text).map((line) => `   ${marked(line)}`),
  ]);
}

/** The words of a text that the query has too, as the index sees words. */
function highlighter(query: string, mark: (text: string) => string): (text: string) => string {
  const wanted = new Set(analyze(query));
  return (text) =>
    text.replace(word, (found) => (analyze(found).some((part) => wanted.has(part)) ? mark(found) : found));
}
