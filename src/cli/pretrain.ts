/** `crossfold pretrain mini|reader`: makes a base policy. */
import { join } from 'node:path';
import { Argument, Command, Option } from 'commander';
import { type PolicyName, SHIPPED } from '../recipe/policies.ts';
import { preparePretraining, pretrainPolicy, pretrainSpec } from '../recipe/pretrain.ts';
import type { TextPlace } from '../recipe/reader-text.ts';
import type { ChunkListener, PretrainPlan } from '../train/pretrain/pretrain.ts';
import { UserError } from '../util/error.ts';
import { countOption } from './count-option.ts';
import { helpExamples } from './examples.ts';
import { inRun } from './in-run.ts';
import { openProgress, type ProgressView } from './progress.ts';
import { quoted } from './shell.ts';
import type { Terminal } from './terminal.ts';
import { codeVersion } from './version.ts';

interface Flags {
  readonly out?: string;
  readonly run?: string;
  readonly docs?: string;
  readonly corpora?: string;
  readonly seed?: number;
  readonly tokens?: number;
  readonly chunk?: number;
  readonly workers: number;
  readonly json?: boolean;
}

/** @param args the command line, for the record of how the policy was made. */
export function pretrainCommand(terminal: Terminal, args: readonly string[]): Command {
  return new Command('pretrain')
    .description('Train a base policy from random weights; stops and continues like any run')
    .addArgument(new Argument('<policy>', 'mini: generated worlds; reader: fill-in questions on text').choices(SHIPPED))
    .option('--out <dir>', 'where the finished policy goes (default: runs/policies/<policy>)')
    .option('--run <dir>', 'run folder with journal and checkpoints (default: runs/pretrain-<policy>)')
    .addOption(new Option('--docs <path>', 'reader: folder or file of documents to learn from').conflicts('corpora'))
    .option('--corpora <dir>', 'reader: folder of passage corpora (the shipped policy learnt from these)')
    .addOption(countOption('--seed <n>', 'every draw of the training follows from it'))
    .addOption(countOption('--tokens <n>', 'training tokens in all'))
    .addOption(countOption('--chunk <n>', 'tokens between two checkpoints'))
    .addOption(countOption('--workers <n>', 'engine threads; the weights depend on it').default(1))
    .option('--json', 'print one JSON object at the end, and nothing else')
    .addHelpText(
      'after',
      helpExamples([
        ['crossfold pretrain mini', 'as the shipped policy was made'],
        ['crossfold pretrain mini --tokens 500000 --out my-mini', 'a short training'],
        ['crossfold pretrain reader --docs ./handbook --out my-reader', 'on your own documents'],
        ['crossfold evolve --policy my-mini', 'evolve agents from it'],
      ]),
    )
    .addHelpText('after', '\nRunning the same command again continues a training that was stopped.')
    .action((policy: PolicyName, flags: Flags) => pretrain(policy, flags, terminal, args));
}

async function pretrain(policy: PolicyName, flags: Flags, terminal: Terminal, args: readonly string[]): Promise<void> {
  const out = flags.out ?? join('runs', 'policies', policy);
  const folder = flags.run ?? join('runs', `pretrain-${policy}`);
  const command = `crossfold ${args.map(quoted).join(' ')}`;
  const version = codeVersion();
  const progress = openProgress(terminal, 0, flags.json === true);
  try {
    progress.note('reading the text');
    // Before the run folder: what cannot be read should leave none.
    const pretraining = await preparePretraining(
      { policy, text: textOf(policy, flags), plan: planOf(flags), workers: flags.workers },
      (text) => progress.warn(`Warning: ${text}`),
    );
    const spec = pretrainSpec(pretraining, version);
    const { tokens, steps, loss, probe } = await inRun(folder, spec, 'chunk', progress, (run, signal) => {
      progress.note('training');
      const report = chunkLines(progress);
      return pretrainPolicy(pretraining, { run, out, command, version, report, signal });
    });
    progress.close();
    if (flags.json) terminal.json({ policy, out, run: folder, tokens, steps, loss, probe });
    else terminal.out(`Policy: ${out}`);
  } finally {
    progress.close();
  }
}

const planOf = ({ seed, tokens, chunk }: Flags): Partial<PretrainPlan> => ({
  ...(seed === undefined ? {} : { seed }),
  ...(tokens === undefined ? {} : { totalTokens: tokens }),
  ...(chunk === undefined ? {} : { chunkTokens: chunk }),
});

function textOf(policy: PolicyName, { docs, corpora }: Flags): TextPlace | null {
  if (policy === 'mini' && (docs ?? corpora) !== undefined) {
    throw new UserError('pretrain mini learns from generated worlds; --docs and --corpora are for pretrain reader');
  }
  if (corpora !== undefined) return { kind: 'corpora', path: corpora };
  return docs === undefined ? null : { kind: 'docs', path: docs };
}

/** A line a chunk; what was read from the journal has had its line. */
function chunkLines(progress: ProgressView): ChunkListener {
  let [since, before] = [performance.now(), 0];
  return ({ tokens, loss, probe }, chunk, chunks, replayed) => {
    const now = performance.now();
    const speed = Math.round((1000 * (tokens - before)) / (now - since));
    [since, before] = [now, tokens];
    if (replayed) return;
    const measured = Object.entries(probe).map(([name, value]) => `${name} ${value}`);
    const place = `chunk ${chunk + 1}/${chunks}  ${(tokens / 1e6).toFixed(2)} M tokens`;
    progress.say([place, `loss ${loss.toFixed(3)}`, `${speed} tok/s`, ...measured].join('  '));
  };
}
