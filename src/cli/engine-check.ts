/** `crossfold doctor --engine`: the quick part of the conformance suite as a table. */
import type { Finding } from '../engine/conformance/probe.ts';
import { PROBES, runSuite } from '../engine/conformance/suite.ts';
import { visible } from '../report/visible.ts';
import { InfraError } from '../util/error.ts';
import { chosenEngine, chosenPolicy, type EngineFlags } from './engine-flags.ts';
import { openProgress } from './progress.ts';
import type { Terminal } from './terminal.ts';

export interface EngineCheckFlags extends EngineFlags {
  readonly base?: string;
  readonly json?: boolean;
}

/** A check has no steps to go on from. */
const AGAIN = 'start the server, or correct its address, and check again';
const WIDTH = Math.max(...PROBES.map(({ name }) => name.length));

/** @throws InfraError when a check fails; UserError when the engine cannot be opened. */
export async function checkEngine(flags: EngineCheckFlags, terminal: Terminal): Promise<void> {
  const progress = openProgress(terminal, 0, flags.json === true);
  try {
    const { base, model = base } = flags;
    progress.note('starting the engine');
    const choice = await chosenPolicy(flags);
    const named = { ...flags, ...(model === undefined ? {} : { model }) };
    const words = { again: AGAIN, ...(flags.engine.startsWith('tinker:') ? { model: '--base' } : {}) };
    const engine = await chosenEngine(named, choice, progress, words);
    try {
      if (!flags.json) terminal.out(visible(engine.fingerprint));
      const found = await runSuite(engine, {
        quick: true,
        told: (finding) => {
          if (!flags.json) terminal.out(lineOf(finding, terminal));
          progress.note(finding.name);
        },
      });
      conclude(engine.fingerprint, found, flags.json === true, terminal);
    } finally {
      await engine.close();
    }
  } finally {
    progress.close();
  }
}

function conclude(engine: string, found: readonly Finding[], json: boolean, terminal: Terminal): void {
  const failures = found.filter(({ state }) => state === 'failed').map(({ name }) => name);
  if (json) terminal.json({ ok: failures.length === 0, engine, checks: found });
  if (failures.length > 0)
    throw new InfraError(`${failures.length} of ${found.length} checks failed: ${failures.join(', ')}`);
  if (json) return;
  const skipped = found.filter(({ state }) => state === 'skipped').length;
  const rest = skipped === 0 ? '' : `; ${skipped} of ${found.length} were skipped`;
  terminal.out(`\nThe engine does what it should${rest}.`);
}

function lineOf({ name, state, found, expected }: Finding, { colours }: Terminal): string {
  const { green, yellow, red, dim } = colours.out;
  const mark = { ok: green('ok  '), skipped: yellow('skip'), failed: red('FAIL') }[state];
  const wanted = state === 'failed' ? `\n${' '.repeat(WIDTH + 8)}${dim('expected')} ${expected}` : '';
  return `${mark}  ${name.padEnd(WIDTH)}  ${visible(found)}${wanted}`;
}
