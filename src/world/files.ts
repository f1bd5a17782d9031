/** A world as ordinary document files: `pages/` is what search returns, `sources/` what the proposer reads, `gold.jsonl` the exam. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Question } from '../types.ts';
import type { World } from './world.ts';

export async function writeWorld(world: World, gold: readonly Question[], dir: string): Promise<void> {
  const folders = [
    ['pages', world.passages],
    ['sources', world.sources],
  ] as const;
  for (const [folder, documents] of folders) {
    await mkdir(join(dir, folder), { recursive: true });
    for (const { id, title, text } of documents) {
      await writeFile(join(dir, folder, `${id}.md`), `# ${title}\n\n${text}\n`);
    }
  }
  const lines = gold.map(({ id, text, hops, label }) =>
    JSON.stringify({ id, question: text, hops, golden_answers: label.answers }),
  );
  await writeFile(join(dir, 'gold.jsonl'), `${lines.join('\n')}\n`);
  // Last: a folder with world.json is complete.
  await writeFile(join(dir, 'world.json'), `${JSON.stringify(world.options, null, 2)}\n`);
}
