import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { RunSpec } from '../../src/store/run.ts';

/** A folder that is gone after the test. */
export function folder(): string {
  const dir = mkdtempSync(join(tmpdir(), 'crossfold-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

export const spec: RunSpec = { recipe: 'test', config: { steps: 3 }, seed: 1, codeVersion: '1', parents: [] };
