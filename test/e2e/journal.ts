import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Lines of a journal without their wall-clock fields; none where there is no journal yet. */
export async function journal(dir: string): Promise<unknown[]> {
  const text = await readFile(join(dir, 'journal.jsonl'), 'utf8').catch(() => '');
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => {
      const { at: _, ms: __, wall: ___, busy: ____, ...rest } = JSON.parse(line) as Record<string, unknown>;
      return rest;
    });
}
