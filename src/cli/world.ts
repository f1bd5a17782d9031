/** `crossfold world DIR`: the miniature world of a run as files, to look at or to search with anything else. */
import { Command } from 'commander';
import { firstComplaint } from '../recipe/complaint.ts';
import { worldSchema } from '../recipe/config.ts';
import { PRESETS, TASKS } from '../recipe/presets.ts';
import { worldAndExam } from '../recipe/task.ts';
import { diskError } from '../util/disk.ts';
import { UserError } from '../util/error.ts';
import { writeWorld } from '../world/files.ts';
import { helpExamples } from './examples.ts';
import type { Terminal } from './terminal.ts';

export function worldCommand(terminal: Terminal): Command {
  return new Command('world')
    .description('Write the miniature world as files: pages, source copies, gold questions')
    .argument('<dir>', 'folder to write to')
    .option('--seed <n>', 'which world', '1')
    .option('--unverifiable <n>', 'share of facts that the retrievable page shows half legible', '0.25')
    .addHelpText(
      'after',
      helpExamples([
        ['crossfold world ./world-1', 'the world of "crossfold compare"'],
        ['crossfold world ./clear --unverifiable 0', 'every fact can be checked by reading'],
      ]),
    )
    .action(async (dir: string, flags: { seed: string; unverifiable: string }) => {
      const wanted = {
        kind: 'world',
        ...TASKS.world.task(PRESETS.quick),
        seed: Number(flags.seed),
        unverifiable: Number(flags.unverifiable),
      };
      const parsed = worldSchema.safeParse(wanted);
      if (!parsed.success) throw new UserError(firstComplaint(parsed.error, wanted).message);
      const { world, gold } = worldAndExam(parsed.data);
      await writeWorld(world, gold, dir).catch((error) => {
        throw diskError(dir, 'write', error);
      });
      terminal.out(
        `${world.passages.length} pages in ${dir}/pages, what a proposer reads in ${dir}/sources, gold questions in ${dir}/gold.jsonl`,
      );
    });
}
