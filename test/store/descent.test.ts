import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lineage } from '../../src/store/descent.ts';
import type { Descent } from '../../src/types.ts';

const base: Descent = { policy: 'base', parent: null, sources: [] };
const records: readonly Descent[] = [
  base,
  { policy: 'main1', parent: 'base', sources: ['x', 'y'] },
  { policy: 'main2', parent: 'main1', sources: ['z'] },
  { policy: 's0', parent: 'base', sources: ['x'] },
];

describe('descent', () => {
  it('is the whole chain', () => {
    const { ancestry } = lineage(records);
    expect([...ancestry('main2')].sort()).toEqual(['x', 'y', 'z']);
    expect([...ancestry('main1')].sort()).toEqual(['x', 'y']);
    expect([...ancestry('base')]).toEqual([]);
  });

  it('unknown policies and circles are errors', () => {
    expect(() => lineage(records).ancestry('s9')).toThrow('policy s9 has no recorded descent; known: base, main1');
    const orphan = lineage([{ policy: 'b', parent: 'a', sources: [] }]);
    expect(() => orphan.ancestry('b')).toThrow('policy a (an ancestor of b) has no recorded descent');
    const circle = [...records, { policy: 'main1', parent: 'main2', sources: [] }];
    expect(() => lineage(circle)).toThrow('descent goes in a circle among policies main1, main2');
  });

  it('a step that changed no weights adds nothing; equal weights from two ways have the sources of both', () => {
    const { ancestry } = lineage([
      ...records,
      { policy: 'base', parent: 'base', sources: ['q'] },
      { policy: 's0', parent: 'main1', sources: ['w'] },
    ]);
    expect([...ancestry('base')]).toEqual([]);
    expect([...ancestry('s0')].sort()).toEqual(['w', 'x', 'y']);
    expect(() => lineage([{ policy: 'a', parent: 'a', sources: [] }]).ancestry('a')).toThrow('no recorded descent');
  });

  it('equals the union over the chain, in any order of questions', () => {
    const chain = fc.array(fc.record({ parent: fc.nat(), sources: fc.array(fc.constantFrom('a', 'b', 'c', 'd')) }), {
      maxLength: 12,
    });
    fc.assert(
      fc.property(chain, fc.array(fc.nat(), { minLength: 1, maxLength: 8 }), (steps, asked) => {
        const all: Descent[] = [base];
        for (const { parent, sources } of steps) {
          all.push({ policy: `p${all.length}`, parent: all[parent % all.length]!.policy, sources });
        }
        const { ancestry } = lineage(all);
        for (const i of asked) {
          const expected = new Set<string>();
          let at: Descent | undefined = all[i % all.length];
          while (at !== undefined) {
            for (const source of at.sources) expected.add(source);
            const { parent }: Descent = at;
            at = all.find(({ policy }) => policy === parent);
          }
          expect(ancestry(all[i % all.length]!.policy)).toEqual(expected);
        }
      }),
    );
  });

  it('holds for chains far longer than the stack', () => {
    const long = Array.from(
      { length: 30_000 },
      (_, i): Descent => ({
        policy: `p${i}`,
        parent: i === 0 ? null : `p${i - 1}`,
        sources: i % 10_000 === 0 ? [`s${i}`] : [],
      }),
    );
    expect([...lineage(long).ancestry('p29999')].sort()).toEqual(['s0', 's10000', 's20000']);
  });
});
