import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { type EvolveConfig, evolveSchema } from '../../src/recipe/config.ts';
import { PRESETS } from '../../src/recipe/presets.ts';
import { openTask } from '../../src/recipe/task.ts';
import { islands, manual, tokenizer } from '../cloze/fixture.ts';

const dir = mkdtempSync(join(tmpdir(), 'crossfold-task-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const TOWNS = ['Askevik', 'Torsby', 'Kalla', 'Sund', 'Brannholm', 'Lunde', 'Ekdahl', 'Marta'];
writeFileSync(join(dir, 'islands.txt'), islands.text);
writeFileSync(join(dir, 'manual.md'), manual.text);
TOWNS.forEach((town, i) => {
  writeFileSync(
    join(dir, `${town}.txt`),
    `Every year the people of ${town} walk to the sea with Ida${i} and her dogs.`,
  );
});

const config = (over: Partial<EvolveConfig> = {}): EvolveConfig =>
  evolveSchema.parse({
    ...PRESETS.quick.loop,
    policy: 'reader',
    systems: ['crossfit'],
    seed: 1,
    hopMix: '4:3:2:1',
    topK: 3,
    task: { kind: 'docs', path: dir, gold: 50 },
    ...over,
  });

describe('the task of documents', () => {
  it('keeps one document in five for the exam: 2 of 10, and nothing is written from them', async () => {
    const { sources, gold, passages } = await openTask(config(), tokenizer);
    expect(sources.length).toBe(8);
    const examined = new Set(gold.map(({ source }) => source));
    expect(examined.size).toBe(2);
    expect(sources.filter((source) => examined.has(source))).toEqual([]);
    // The search index has all of them.
    expect(passages).toBeGreaterThanOrEqual(10);
    expect(new Set(gold.map(({ text }) => text)).size).toBe(gold.length);
  });

  it('says what it had to leave out', async () => {
    const odd = mkdtempSync(join(dir, '.odd-'));
    for (const name of ['islands.txt', 'manual.md']) copyFileSync(join(dir, name), join(odd, name));
    const warnings: string[] = [];
    const settings = config({ task: { kind: 'docs', path: odd, gold: 5 } });
    await openTask(settings, tokenizer, (text) => warnings.push(text));
    expect(warnings).toEqual([]);
    writeFileSync(join(odd, 'latin.txt'), Buffer.from('Caf\xe9', 'latin1'));
    await openTask(settings, tokenizer, (text) => warnings.push(text));
    expect(warnings).toEqual([
      `${odd}: 1 of 3 documents cannot be used and are left out, for example latin.txt: not UTF-8 text; convert it (for example with iconv)`,
    ]);
  });

  it('is one-hop whatever the mix', async () => {
    expect((await openTask(config(), tokenizer)).hopMix).toEqual([4, 0, 0, 0]);
  });

  it('shows the proposer one passage of a source, the same for the same key', async () => {
    const { material, sourceText } = await openTask(config(), tokenizer);
    const texts = new Set<string>();
    for (let i = 0; i < 30; i++) {
      const { id, text } = material('islands.txt', `k${i}`);
      expect(id).toBe('islands.txt');
      expect(sourceText('islands.txt').replace(/\s+/g, ' ')).toContain(text);
      expect(text.length).toBeLessThan(islands.text.length / 2);
      expect(material('islands.txt', `k${i}`).text).toBe(text);
      texts.add(text);
    }
    expect(texts.size).toBeGreaterThan(1);
  });

  it('gives the reader the turns and tokens it was trained with', async () => {
    const { limits } = await openTask(config(), tokenizer);
    expect(limits.proposer).toEqual({ turns: 2, tokensPerTurn: 80, contextLength: 384 });
    expect(limits.solver).toEqual({ turns: 3, tokensPerTurn: 20, contextLength: 384 });
  });
});

describe('the task of the miniature world', () => {
  it('draws the pool from the world, and gives both roles 5 turns of 24 tokens', async () => {
    const task = {
      kind: 'world',
      seed: 1,
      unverifiable: 0.25,
      firstRank: 0.75,
      miss: 0.03,
      wordings: 3,
      goldPerHop: 2,
    };
    const { sources, gold, limits, material } = await openTask(config({ task } as Partial<EvolveConfig>), tokenizer);
    expect(new Set(sources).size).toBe(100);
    expect(gold.map(({ hops }) => hops)).toEqual([1, 1, 2, 2, 3, 3, 4, 4]);
    const mini = { turns: 5, tokensPerTurn: 24, contextLength: 320 };
    expect(limits).toEqual({ proposer: mini, solver: mini });
    expect(material(sources[0]!, 'k')).toEqual(material(sources[0]!, 'l'));
  });
});
