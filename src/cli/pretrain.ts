/** `crossfold pretrain mini|reader`: makes a base policy. */

import { join } from 'node:path';
import { Command, Option } from 'commander';
import { type PolicyName, pretrainPolicy } from '../recipe/pretrain.ts';
import { UserError } from '../util/error.ts';
import { codeVersion } from './version.ts';

interface Flags {
  readonly out?: string;
  readonly run?: string;
  readonly docs?: string;
  readonly corpora?: string;
  readonly seed?: string;
  readonly tokens?: string;
  readonly chunk?: string;
  readonly workers: string;
}

export function pretrainCommand(): Command {
  return new Command('pretrain')
    .description('Train a base policy from random weights; stops and continues like any run')
    .argument('<policy>', 'mini (generated worlds) or reader (fill-in questions on documents)')
    .option('--out <dir>', 'where the finished policy goes (default: runs/policies/<policy>)')
    .option('--run <dir>', 'run folder with journal and checkpoints (default: runs/pretrain-<policy>)')
    .addOption(new Option('--docs <path>', 'reader: folder or file of documents to learn from').conflicts('corpora'))
    .option('--corpora <dir>', 'reader: folder of passage corpora (the shipped policy learnt from these)')
    .option('--seed <n>', 'seed')
    .option('--tokens <n>', 'training tokens in all')
    .option('--chunk <n>', 'tokens between two checkpoints')
    .option('--workers <n>', 'engine threads', '1')
    .addHelpText(
      'after',
      '\nExamples:\n  crossfold pretrain mini\n  crossfold pretrain reader --docs ./handbook --out ./my-reader\n',
    )
    .action(async (policy: PolicyName, flags: Flags) => {
      const number = (name: string, value: string | undefined): Record<string, number> =>
        value === undefined ? {} : { [name]: positive(name, value) };
      let started = performance.now();
      let before = 0;
      const text = flags.docs ? { kind: 'docs' as const, path: flags.docs } : null;
      await pretrainPolicy(
        {
          policy: known(policy),
          run: flags.run ?? join('runs', `pretrain-${policy}`),
          out: flags.out ?? join('runs', 'policies', policy),
          text: flags.corpora ? { kind: 'corpora', path: flags.corpora } : text,
          plan: {
            ...number('seed', flags.seed),
            ...number('totalTokens', flags.tokens),
            ...number('chunkTokens', flags.chunk),
          },
          workers: positive('workers', flags.workers),
          codeVersion: codeVersion(),
          command: `crossfold ${process.argv.slice(2).join(' ')}`,
        },
        (record, chunk, chunks) => {
          const now = performance.now();
          const speed = Math.round((1000 * (record.tokens - before)) / (now - started));
          [started, before] = [now, record.tokens];
          const probe = Object.entries(record.probe).map(([name, value]) => `${name} ${value}`);
          process.stderr.write(
            `${chunk + 1}/${chunks}  ${(record.tokens / 1e6).toFixed(2)} M tokens  loss ${record.loss.toFixed(3)}  ${speed} tokens/s  ${probe.join('  ')}\n`,
          );
        },
      );
    });
}

function known(policy: string): PolicyName {
  if (policy === 'mini' || policy === 'reader') return policy;
  throw new UserError(`pretrain ${policy}: unknown policy; expected mini or reader`);
}

function positive(name: string, value: string): number {
  const n = Number(value);
  if (Number.isInteger(n) && n > 0) return n;
  throw new UserError(`--${name} ${value}: expected a whole number above 0`);
}
