/** `crossfold world DIR`: the miniature world of a run as files, to look at or to search with anything else. */
import { Command, Option } from 'commander';
import { worldSchema } from '../recipe/config.ts';
import { FIELDS } from '../recipe/fields.ts';
import { PRESETS, TASKS } from '../recipe/presets.ts';
import { worldAndExam } from '../recipe/task.ts';
import { diskError } from '../util/disk.ts';
import { writeWorld } from '../world/files.ts';
import { helpExamples } from './examples.ts';
import { readFlag } from './settings.ts';
import type { Terminal } from './terminal.ts';

function setting(flag: string, key: 'seed' | 'unverifiable', about: string): Option {
  const field = FIELDS.find(({ path }) => path.join('.') === `task.${key}`)!;
  return new Option(`${flag} <n>`, about).argParser((typed: string) => readFlag(field, flag, typed).value);
}

export function worldCommand(terminal: Terminal): Command {
  return new Command('world')
    .description('Write the miniature world as files: pages, source copies, gold questions')
    .argument('<dir>', 'folder to write to')
    .addOption(setting('--seed', 'seed', 'which world (default: 1)'))
    .addOption(
      setting(
        '--unverifiable',
        'unverifiable',
        'share of facts that the retrievable page shows half legible (default: 0.25)',
      ),
    )
    .addHelpText(
      'after',
      helpExamples([
        ['crossfold world ./world-1', 'the world of "crossfold compare"'],
        ['crossfold world ./clear --unverifiable 0', 'every fact can be checked by reading'],
      ]),
    )
    .action(async (dir: string, flags: { seed?: number; unverifiable?: number }) => {
      const settings = worldSchema.parse({ kind: 'world', ...TASKS.world.task(PRESETS.quick), ...flags });
      const { world, gold } = worldAndExam(settings);
      await writeWorld(world, gold, dir).catch((error) => {
        throw diskError(dir, 'write', error);
      });
      terminal.out(
        `${world.passages.length} pages in ${dir}/pages, what a proposer reads in ${dir}/sources, gold questions in ${dir}/gold.jsonl`,
      );
    });
}
