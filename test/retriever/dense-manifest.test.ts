import { existsSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkEncoder, DenseManifest } from '../../src/retriever/dense/manifest.ts';
import type { Encoder } from '../../src/retriever.ts';
import { UserError } from '../../src/util/error.ts';

interface Named {
  readonly dim: number;
  readonly model: string;
  readonly prefix: string;
}

const complaint = (index: Named, runtime: Named): string | null => {
  const made = { encoder: index.model, dimension: index.dim, prefixes: { query: index.prefix, passage: '' } };
  const encoder: Encoder = {
    name: runtime.model,
    dimension: runtime.dim,
    prefixes: { query: runtime.prefix, passage: '' },
    embed: () => Promise.reject(new Error('must not be asked')),
  };
  try {
    checkEncoder(made, encoder);
    return null;
  } catch (error) {
    expect(error).toBeInstanceOf(UserError);
    return (error as Error).message;
  }
};

describe('an index and an encoder that do not belong together', () => {
  it('are refused with both named', () => {
    const says = complaint(
      { dim: 768, model: 'embedder-A', prefix: 'query: ' },
      { dim: 384, model: 'embedder-B', prefix: '' },
    );
    for (const part of ['768', '384', 'embedder-A', 'embedder-B', 'prefix "query: "', 'prefix ""'])
      expect(says).toContain(part);
  });

  it('are refused whatever differs, and accepted only where nothing does', () => {
    const named = fc.record({
      dim: fc.constantFrom(3, 4),
      model: fc.constantFrom('a', 'b'),
      prefix: fc.constantFrom('', 'query: ', ' '),
    });
    fc.assert(
      fc.property(named, named, (index, runtime) => {
        const same = JSON.stringify(index) === JSON.stringify(runtime);
        const says = complaint(index, runtime);
        expect(says === null).toBe(same);
        if (says !== null)
          for (const { dim, model, prefix } of [index, runtime])
            expect(says).toContain(`${model} (dimension ${dim}, query prefix ${JSON.stringify(prefix)}`);
      }),
    );
  });

  it('reads its own manifests only', () => {
    const exact = {
      kind: 'exact',
      corpus: 'c',
      encoder: 'a',
      dimension: 3,
      prefixes: { query: '', passage: '' },
      normalised: true,
      rows: 2,
      vectors: 'v',
    };
    expect(DenseManifest.parse(exact)).toEqual(exact);
    expect(DenseManifest.safeParse({ ...exact, kind: 'hnsw-f16' }).success).toBe(false);
    expect(DenseManifest.safeParse({ ...exact, normalised: false }).success).toBe(false);
  });

  const cases = new URL('../../../shared/cases/cases.jsonl', import.meta.url);
  if (!existsSync(cases)) console.log('skipped: no shared cases');
  it.skipIf(!existsSync(cases))('as every shared case has it', () => {
    const rows = readFileSync(cases, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const mine = rows.filter((row) => row.kind === 'index_manifest');
    expect(mine.length).toBeGreaterThan(0);
    for (const { input, expected } of mine) {
      const says = complaint(input.index, input.runtime);
      expect(says === null ? 'accepted' : 'refused').toBe(expected.start);
      for (const part of expected.message_mentions ?? []) expect(says).toContain(part);
    }
  });
});
