/** `crossfold doctor`: does this machine have what a run needs? */
import { Command } from 'commander';
import { messageOf, UserError } from '../util/error.ts';
import { type Check, checks, type Finding } from './checks.ts';
import { checkEngine, type EngineCheckFlags } from './engine-check.ts';
import { addEngineFlags } from './engine-flags.ts';
import { helpExamples } from './examples.ts';
import type { Terminal } from './terminal.ts';

interface Flags extends EngineCheckFlags {
  readonly run: string;
}

export interface Diagnosis extends Finding {
  readonly name: string;
}

export function doctorCommand(terminal: Terminal): Command {
  const command = new Command('doctor')
    .description('Check this machine, or, with --engine, whether an engine does what a run needs')
    .option('--run <dir>', 'folder that runs will be written to', 'runs')
    .option('--json', 'print the findings as JSON')
    .option('--base <name>', 'what a Tinker server calls the model');
  return addEngineFlags(command)
    .addHelpText(
      'after',
      helpExamples([
        ['crossfold doctor', 'this machine and this folder'],
        ['crossfold doctor --run /mnt/big/runs', 'another disk'],
        ['crossfold doctor --engine local --policy mini', 'the local engine: sampling, gradients, checkpoints'],
        ['crossfold doctor --engine tinker:URL --base NAME --tokenizer DIR', 'a server of the Tinker wire'],
      ]),
    )
    .action(async (flags: Flags) => {
      const { run, json } = flags;
      if (command.getOptionValueSource('engine') === 'cli') return checkEngine(flags, terminal);
      const found = await diagnose(checks(run), json ? () => {} : (d) => terminal.out(lineOf(d, terminal)));
      if (json) terminal.json({ ok: found.every(({ state }) => state !== 'failed'), checks: found });
      const failures = found.filter(({ state }) => state === 'failed').map(({ name }) => name);
      if (failures.length > 0)
        throw new UserError(`${failures.length} of ${found.length} checks failed: ${failures.join(', ')}`);
      if (!json) terminal.out('\nAll is well: "crossfold compare" runs both systems on the miniature world.');
    });
}

/** Runs every check, whatever the others say; `told` hears each as it comes. */
export async function diagnose(rows: readonly Check[], told: (d: Diagnosis) => void): Promise<readonly Diagnosis[]> {
  const out: Diagnosis[] = [];
  for (const { name, run } of rows) {
    const finding = await run().catch(
      (error): Finding => ({ state: 'failed', found: messageOf(error), fix: 'run "npm ci" again' }),
    );
    out.push({ name, ...finding });
    told(out.at(-1)!);
  }
  return out;
}

function lineOf({ name, state, found, fix }: Diagnosis, { colours }: Terminal): string {
  const { green, yellow, red, dim } = colours.out;
  const mark = { good: green('ok  '), poor: yellow('poor'), failed: red('FAIL') }[state];
  return `${mark}  ${name.padEnd(17)} ${found}${fix === '' ? '' : `\n${' '.repeat(24)}${dim('->')} ${fix}`}`;
}
