import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { writeWorld } from '../../src/world/files.ts';
import { goldQuestions, truth } from '../../src/world/question.ts';
import { generateWorld, type WorldOptions } from '../../src/world/world.ts';
import { tinyWorld } from './tiny.ts';

const facts = (options: Partial<WorldOptions>, seeds = 10) =>
  Array.from({ length: seeds }, (_, seed) => generateWorld({ seed, ...options })).flatMap((w) =>
    w.entities.flatMap((e) => e.facts.map((f) => ({ ...f, name: w.entities[f.value]!.name }))),
  );

describe('a generated world', () => {
  it('has 240 entities with six facts each, of the right types and distinct values', () => {
    const world = generateWorld({ seed: 3 });
    expect(world.entities).toHaveLength(240);
    expect(world.byName.size).toBe(240);
    for (const [i, e] of world.entities.entries()) {
      expect(new Set([i, ...e.facts.map((f) => f.value)]).size).toBe(7);
      for (const f of e.facts) {
        expect(f.relation.from).toBe(e.type);
        expect(world.entities[f.value]!.type).toBe(f.relation.to);
      }
    }
  });
  it('depends on the seed alone', () => {
    expect(generateWorld({ seed: 5 })).toEqual(generateWorld({ seed: 5 }));
    expect(generateWorld({ seed: 5 }).passages).not.toEqual(generateWorld({ seed: 6 }).passages);
  });
  it('hides a quarter of the facts in the archive, and 85 % of those are wrong in the source copy', () => {
    const all = facts({});
    const hidden = all.filter((f) => !f.verifiable);
    expect(Math.abs(hidden.length / all.length - 0.25)).toBeLessThan(0.02);
    expect(Math.abs(hidden.filter((f) => f.copy !== f.name).length / hidden.length - 0.85)).toBeLessThan(0.02);
    for (const f of hidden) {
      expect(f.archive).toBe(`${f.name.split(' ')[0]} ~`);
      expect(f.copy.split(' ')[0]).toBe(f.name.split(' ')[0]);
      expect(f.copy).not.toContain('~');
    }
    for (const f of all) if (f.verifiable) expect([f.archive, f.copy]).toEqual([f.name, f.name]);
  });
  it('can be verifiable throughout', () => {
    expect(facts({ unverifiable: 0 }, 2).every((f) => f.verifiable)).toBe(true);
  });
  it('refuses options it cannot honour, naming field and value', () => {
    const entities = { person: 100, company: 481, book: 45, town: 50 };
    expect(() => generateWorld({ seed: 1, entities })).toThrow('world.entities.company is 481');
    expect(() => generateWorld({ seed: 1, unverifiable: 1.5 })).toThrow('world.unverifiable is 1.5');
    expect(() => generateWorld({ seed: 1, wordings: 0 })).toThrow('world.wordings is 0');
  });
});

describe('files', () => {
  it('are ordinary documents, the exact gold questions, and the options last', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'world-'));
    try {
      const world = generateWorld({ seed: 9, unverifiable: 0.3 });
      await writeWorld(world, goldQuestions(world, 3, 'exam'), dir);
      const { id, title, text } = world.passages[5]!;
      expect(await readFile(join(dir, 'pages', `${id}.md`), 'utf8')).toBe(`# ${title}\n\n${text}\n`);
      expect(await readdir(join(dir, 'sources'))).toHaveLength(world.sources.length);
      const gold = (await readFile(join(dir, 'gold.jsonl'), 'utf8')).trim().split('\n');
      expect(gold).toHaveLength(12);
      for (const line of gold) {
        const { question, golden_answers } = JSON.parse(line);
        expect([truth(world, question)]).toEqual(golden_answers);
      }
      expect(generateWorld(JSON.parse(await readFile(join(dir, 'world.json'), 'utf8')))).toEqual(world);
    } finally {
      await rm(dir, { recursive: true, force: true });
    }
  });
});

describe('pages', () => {
  it('show the archive and the source copy of the same facts', () => {
    const world = tinyWorld();
    expect(world.passages[0]!.text).toBe('Mara Voss: mentor Tobin Hale; Voss: birthplace Fair ~.');
    expect(world.sources[0]!.text).toBe('Mara Voss: mentor Tobin Hale; Voss: birthplace Fair Dale.');
  });
});
