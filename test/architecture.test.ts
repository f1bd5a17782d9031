/** The shape of the code: who may import whom. Read from the import lines, so it holds for type imports too. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

const SRC = path.resolve(import.meta.dirname, '../src');

/** Imports go leftwards (up this list) or stay inside one folder. Names of one row do not import each other. */
const LAYERS: readonly (readonly string[])[] = [
  ['util'],
  ['types.ts'],
  ['contract'],
  ['text'],
  ['method'],
  ['world'],
  ['store', 'retriever', 'engine'],
  ['matcher'],
  ['auditor'],
  ['rollout'],
  ['strategy'],
  ['train', 'benchmark'],
  ['recipe'],
  ['report'],
  ['dashboard'],
  ['cli', 'index.ts'],
];
/** Files that state a contract; they may import each other. */
const CONTRACTS = [
  'engine',
  'retriever',
  'matcher',
  'auditor',
  'store',
  'dialect',
  'record',
  'strategy',
  'recipe',
  'chat',
];
/** Folders that do no I/O. */
const PURE = ['text', 'method'];
const MAX_LINES = 400;

interface SourceFile {
  /** Relative to src/, with forward slashes. */
  readonly name: string;
  readonly code: string;
}

const files: readonly SourceFile[] = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => ({
    name: name.split(path.sep).join('/'),
    code: readFileSync(path.join(SRC, name), 'utf8'),
  }));

function folderOf(name: string): string {
  if (CONTRACTS.some((contract) => name === `${contract}.ts`)) return 'contract';
  return name.split('/')[0]!;
}

const rowOf = (folder: string): number => LAYERS.findIndex((row) => row.includes(folder));

const importsOf = (code: string): string[] =>
  [...code.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*['"]([^'"]+)['"]/g)].map((match) => match[1]!);

function complaints({ name, code }: SourceFile): string[] {
  const folder = folderOf(name);
  const row = rowOf(folder);
  if (row < 0) return [`src/${name}: "${folder}" is in no layer; put it in a folder of LAYERS`];
  const out: string[] = [];
  const lines = code.trimEnd().split('\n').length;
  if (lines > MAX_LINES) out.push(`src/${name}: ${lines} lines; split it, the limit is ${MAX_LINES}`);
  for (const specifier of importsOf(code)) {
    const says = `src/${name} imports '${specifier}'`;
    if (PURE.includes(folder) && specifier.startsWith('node:')) out.push(`${says}: ${folder}/ does no I/O`);
    if (!specifier.startsWith('.')) continue;
    const target = folderOf(path.posix.join(path.posix.dirname(name), specifier));
    if (target === folder) continue;
    if (rowOf(target) < 0) out.push(`${says}: "${target}" is in no layer`);
    else if (rowOf(target) === row) out.push(`${says}: ${LAYERS[row]!.join(' | ')} do not import each other`);
    else if (rowOf(target) > row) out.push(`${says}: ${folder} comes before ${target}, and imports go leftwards only`);
  }
  return out;
}

describe('architecture', () => {
  it('imports go leftwards, pure folders do no I/O, and no file is too long', () => {
    expect(files.length).toBeGreaterThan(10);
    expect(files.flatMap(complaints)).toEqual([]);
  });

  it.each([
    ['method/a.ts', "import { b } from '../engine/b.ts';", 'method comes before engine'],
    ['text/a.ts', "import fs from 'node:fs';", 'text/ does no I/O'],
    ['train/a.ts', "import {\n  b,\n} from '../benchmark/b.ts';", 'train | benchmark do not import each other'],
    ['types.ts', "import type { Engine } from './engine.ts';", 'types.ts comes before contract'],
    ['engine/a.ts', "const b = await import('../recipe/b.ts');", 'engine comes before recipe'],
    ['helpers/a.ts', '', 'is in no layer'],
    ['cli/a.ts', '\n'.repeat(400).concat('x'), '401 lines'],
  ])('complains about %s', (name, code, rule) => {
    expect(complaints({ name, code })).toEqual([expect.stringContaining(rule)]);
  });

  it.each([
    ['auditor/world.ts', "import type { World } from '../world/world.ts';"],
    ['dialect.ts', "import type { Hit } from './retriever.ts';"],
    ['engine/local/a.ts', "import { b } from '../b.ts'; import type { E } from '../../engine.ts';"],
    ['store/a.ts', "import fs from 'node:fs'; import { z } from 'zod';"],
  ])('allows %s', (name, code) => {
    expect(complaints({ name, code })).toEqual([]);
  });
});
