/** A world on disk: `pages/` is what search returns, `sources/` what the proposer reads, `world.json` how to rebuild it. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, UserError } from '../util/error.ts';
import { generateWorld, type World, type WorldOptions } from './world.ts';

export async function writeWorld(world: World, dir: string): Promise<void> {
  const folders = [
    ['pages', world.passages],
    ['sources', world.sources],
  ] as const;
  for (const [folder, documents] of folders) {
    await mkdir(join(dir, folder), { recursive: true });
    for (const { id, title, text } of documents)
      await writeFile(join(dir, folder, `${id}.md`), `# ${title}\n\n${text}\n`);
  }
  await writeFile(join(dir, 'world.json'), `${JSON.stringify(world.options, null, 2)}\n`);
}

/** Rebuilds the world that `writeWorld` wrote to `dir`. */
export async function readWorld(dir: string): Promise<World> {
  const file = join(dir, 'world.json');
  let options: WorldOptions;
  try {
    options = JSON.parse(await readFile(file, 'utf8'));
  } catch (error) {
    throw new UserError(
      `${file}: not a world description (${messageOf(error)}); write one with generateWorld and writeWorld`,
    );
  }
  return generateWorld(options);
}
