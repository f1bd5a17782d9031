/** `crossfold evolve` and `crossfold compare`: the loop, then its audit and report. */

import { join } from 'node:path';
import { Command, Option } from 'commander';
import { stringify } from 'yaml';
import { ALARM_NAMES, type AlarmName } from '../method/health.ts';
import { asRecorded } from '../recipe/address.ts';
import { fileJsonSchema } from '../recipe/config-file.ts';
import { evolve } from '../recipe/evolve.ts';
import { namesIn } from '../recipe/fields.ts';
import type { CommandName } from '../recipe/presets.ts';
import { alarmText, type Progress } from '../recipe/progress.ts';
import type { Resolved } from '../recipe/resolve.ts';
import { runTokenizer } from '../recipe/run-engine.ts';
import { withMatcher } from '../recipe/run-matcher.ts';
import { openTask } from '../recipe/task.ts';
import { countOption } from './count-option.ts';
import { type Example, helpExamples } from './examples.ts';
import { maxGapOption, refuseGap } from './gap.ts';
import { onEngine } from './on-engine.ts';
import { openProgress, type ProgressView } from './progress.ts';
import { publish } from './publish.ts';
import { quietOption } from './quiet-option.ts';
import { publishSeeds } from './report.ts';
import { addSettings, settingsOf } from './settings.ts';
import type { Terminal } from './terminal.ts';
import { codeVersion } from './version.ts';

interface Flags {
  readonly seeds?: number;
  readonly stopOn?: readonly AlarmName[];
  readonly run?: string;
  readonly json?: boolean;
  readonly quiet?: boolean;
  readonly maxGap: number;
  readonly printConfig?: boolean;
  readonly schema?: boolean;
}

export const compareCommand = (terminal: Terminal): Command =>
  loopCommand(terminal, 'compare', 'Evolve agents with several systems from one shared first round, and audit them', [
    ['crossfold compare', 'dr-zero and crossfit on the miniature world'],
    ['crossfold compare --preset standard --seed 2', 'longer, another seed'],
    ['crossfold compare --systems dr-zero,crossfit,msv,msv+crossfit --seeds 5', 'the four of the paper, five seeds'],
    ['crossfold compare --unverifiable 0', 'a world where every fact can be checked by reading'],
    ['crossfold compare --format-weight 0', 'an ablation: no format reward'],
  ]);

export const evolveCommand = (terminal: Terminal): Command =>
  loopCommand(terminal, 'evolve', 'Evolve agents with one system, and audit them', [
    ['crossfold evolve --system dr-zero', 'on the miniature world'],
    ['crossfold evolve --docs ./handbook', 'on your own documents (.md, .txt, .rst, .jsonl, .gz)'],
    ['crossfold evolve --config run.yaml --rounds 2', 'settings from a file, flags win'],
    ['crossfold evolve --print-config > run.yaml', 'a file to start from'],
    ['crossfold evolve --engine tinker:URL --base NAME --tokenizer DIR', 'on a server of the Tinker wire'],
  ]);

function loopCommand(terminal: Terminal, name: CommandName, about: string, examples: readonly Example[]): Command {
  const command = new Command(name).description(about);
  addSettings(command, name);
  if (name === 'compare')
    command.addOption(countOption('--seeds <n>', 'run so many seeds, from --seed on, and put them side by side'));
  return command
    .option('--run <dir>', 'folder of the run (default: runs/, then a name made from the settings)')
    .option('--json', 'print one JSON object at the end, and nothing else')
    .addOption(maxGapOption())
    .addOption(
      new Option('--stop-on <alarms>', `stop cleanly when one of these rings: ${ALARM_NAMES.join(', ')}`).argParser(
        alarmsOf,
      ),
    )
    .addOption(quietOption())
    .addHelpText('after', helpExamples(examples))
    .addHelpText('after', '\nRunning the same command again continues a run that was stopped.')
    .action(async (flags: Flags) => {
      if (flags.schema) return terminal.json(fileJsonSchema());
      const resolved = await settingsOf(command, name);
      if (flags.printConfig) return terminal.out(stringify(resolved.config).trimEnd());
      if (flags.seeds === undefined) await runLoop(name, resolved, flags, terminal);
      else await runSeeds(name, resolved, flags.seeds, flags, terminal);
    });
}

/** One run a seed, each in a folder of its own: with more seeds later, those that are done are kept. */
async function runSeeds(
  name: CommandName,
  { config, dir, ...rest }: Resolved,
  count: number,
  flags: Flags,
  terminal: Terminal,
): Promise<void> {
  const folder = flags.run ?? dir.replace(/seed\d+/, 'seeds');
  const seeds = Array.from({ length: count }, (_, i) => config.seed + i);
  const folders = seeds.map((seed) => join(folder, `seed${seed}`));
  for (const [i, seed] of seeds.entries()) {
    if (!flags.json && !flags.quiet) terminal.err(`Seed ${seed}, ${i + 1} of ${count}`);
    const own = { ...rest, config: { ...config, seed }, dir: folders[i]! };
    await runLoop(name, own, { ...flags, run: folders[i]! }, terminal, false);
  }
  const progress = openProgress(terminal, 0, flags.json === true || flags.quiet === true);
  try {
    await publishSeeds(folders, folder, flags.json === true, progress, terminal);
  } finally {
    progress.close();
  }
}

const alarmsOf = (typed: string): AlarmName[] => namesIn('--stop-on', typed, ALARM_NAMES) as AlarmName[];

/** Each alarm is told once a system and phase. */
function watched(progress: ProgressView): (p: Progress) => void {
  const told = new Set<string>();
  return (p) => {
    progress.report(p);
    for (const alarm of p.alarms ?? []) {
      const key = `${p.system} ${p.phase} ${alarm.name}`;
      if (told.has(key)) continue;
      told.add(key);
      progress.say(`Alarm in ${p.key}: ${alarmText(alarm)}`);
    }
  };
}

/** @param print the tables at the end; the report is written in any case. */
async function runLoop(
  name: CommandName,
  { config, dir }: Resolved,
  flags: Flags,
  terminal: Terminal,
  print = true,
): Promise<void> {
  const folder = flags.run ?? dir;
  const progress = openProgress(terminal, config.rounds, flags.json === true || flags.quiet === true);
  const warn = (text: string): void => progress.warn(`Warning: ${text}`);
  try {
    progress.note(config.task.kind === 'docs' ? `reading ${config.task.path}` : 'making the world');
    // Before the run folder: what cannot be read should leave none.
    const tokenizer = await runTokenizer(config);
    const task = await openTask(config, tokenizer, warn);
    const spec = {
      recipe: name,
      config: await asRecorded(folder, config),
      seed: config.seed,
      codeVersion: codeVersion(),
      parents: [],
    };
    const report = watched(progress);
    await withMatcher(config, { note: progress.note, warn }, (matcherIn) =>
      onEngine({ loop: config, folder, spec, progress, warn }, async (run, engine, signal) => {
        if (config.engine !== undefined) await refuseGap(engine, flags.maxGap, progress);
        const matcher = await matcherIn(folder);
        await evolve({ config, run, engine, task, matcher, report, signal, stopOn: flags.stopOn });
      }),
    );
    await publish(folder, task, { print, json: flags.json === true, hints: flags.quiet !== true, progress, terminal });
  } finally {
    progress.close();
  }
}
