/** A run in a process of its own, to be killed: a chain of steps with lines of very different length and a blob each. */
import { pathToFileURL } from 'node:url';
import { openRun } from '../../src/store/run.ts';
import { contentId } from '../../src/util/id.ts';

export const STEPS = 150;

export async function write(dir: string): Promise<void> {
  const run = await openRun(dir, { recipe: 'kill', config: { steps: STEPS }, seed: 7, codeVersion: '1', parents: [] });
  try {
    let state = 'base';
    for (let step = 0; step < STEPS; step++) {
      const scope = run.scope(`step${step}`);
      const parts = await Promise.all(
        [0, 1, 2].map((part) =>
          scope.once(`part${part}`, async () => contentId(`${state}/${part}`).repeat(1 << ((step * 5 + part) % 12))),
        ),
      );
      const before = state;
      state = await scope.once('state', () => run.blobs.put(Buffer.from(before + parts.join())));
    }
  } finally {
    await run.close();
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  await write(process.argv[2]!).catch((error: Error) => {
    process.stderr.write(`${error.name}: ${error.message}\n`);
    process.exitCode = 3;
  });
}
