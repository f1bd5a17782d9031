/** `crossfold doctor`: does this machine have what a run needs? */
import { Command } from 'commander';
import { messageOf, UserError } from '../util/error.ts';
import { type Check, checks, type Finding } from './checks.ts';
import { helpExamples } from './examples.ts';
import type { Terminal } from './terminal.ts';

export interface Diagnosis extends Finding {
  readonly name: string;
}

export function doctorCommand(terminal: Terminal): Command {
  return new Command('doctor')
    .description('Check this machine: Node, ONNX Runtime, memory, disk, policies, and a small training step')
    .option('--run <dir>', 'folder that runs will be written to', 'runs')
    .option('--json', 'print the findings as JSON')
    .addHelpText(
      'after',
      helpExamples([
        ['crossfold doctor', 'this machine and this folder'],
        ['crossfold doctor --run /mnt/big/runs', 'another disk'],
      ]),
    )
    .action(async ({ run, json }: { run: string; json?: boolean }) => {
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
