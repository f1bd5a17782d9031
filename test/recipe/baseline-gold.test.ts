/** Gold questions of documents, and turns that answer at once in every dialect. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, test } from 'vitest';
import type { Dialect } from '../../src/dialect.ts';
import { scriptedTokenizer } from '../../src/engine/scripted.ts';
import { goldOfTask } from '../../src/recipe/baseline/gold.ts';
import { evolveSchema } from '../../src/recipe/config.ts';
import { PRESETS } from '../../src/recipe/presets.ts';
import { openTask } from '../../src/recipe/task.ts';
import { CLOZE_TAGS, cloze } from '../../src/text/dialect/cloze.ts';
import { COMPACT_TAGS, compact } from '../../src/text/dialect/compact.ts';
import { searchR1 } from '../../src/text/dialect/search-r1.ts';
import { toolCall } from '../../src/text/dialect/tool-call.ts';
import { islands, tokenizer } from '../cloze/fixture.ts';

const dir = mkdtempSync(join(tmpdir(), 'crossfold-gold-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
writeFileSync(join(dir, 'islands.txt'), islands.text);
for (const [i, town] of ['Askevik', 'Torsby', 'Kalla', 'Sund', 'Lunde', 'Ekdahl'].entries())
  writeFileSync(
    join(dir, `${town}.txt`),
    `Every year the people of ${town} walk to the sea with Ida${i} and her dogs.`,
  );

describe('gold questions of documents', () => {
  it('are written from the documents of the pool, never from those of the exam', async () => {
    const config = evolveSchema.parse({
      ...PRESETS.quick.loop,
      policy: 'reader',
      systems: ['crossfit'],
      seed: 1,
      hopMix: '1:0:0:0',
      topK: 3,
      task: { kind: 'docs', path: dir, gold: 50 },
    });
    const task = await openTask(config, tokenizer);
    const gold = goldOfTask(config, task, 8);
    expect(gold.length).toBe(8);
    expect(goldOfTask(config, task, 8)).toEqual(gold);
    expect(new Set(gold.map(({ question }) => question)).size).toBe(8);
    const pool = new Set(task.sources);
    for (const { source, label, question } of gold) {
      expect(pool.has(source)).toBe(true);
      expect(task.sourceText(source)).toContain(label);
      expect(question).toContain('____');
    }
    expect(goldOfTask(config, task, 10_000).length).toBeLessThan(10_000);
  });
});

describe('a turn that answers at once', () => {
  const END = '<|im_end|>';
  const rows: readonly (readonly [string, Dialect, readonly string[], string, string])[] = [
    ['compact', compact, COMPACT_TAGS, 'home of Mara Voss ?', 'Fair Mere'],
    ['cloze', cloze, CLOZE_TAGS, 'The ferry leaves ____ at nine.', 'Kalla'],
    ['search-r1', searchR1({ stop: [END] }), [END], 'Where?', 'a < b'],
    ['tool-call', toolCall({ stop: [END] }), [END], 'Where?', 'Port Ellow'],
  ];
  test.each(rows)('%s reads its own', (_, dialect, tags, question, answer) => {
    const characters = scriptedTokenizer(tags);
    const tokens = characters.encode(dialect.answerTurn(question, answer));
    const stop = dialect.stop.map((name) => characters.tag(name));
    expect(stop).toContain(tokens.at(-1));
    const { action, formatOk } = dialect.parse(characters.decode(tokens), { reason: 'stop' }, question);
    expect(action).toMatchObject({ type: 'answer', text: answer });
    expect(formatOk).toBe(true);
  });

  test('goes on from a think block that the prompt has opened', () => {
    const open = searchR1({ stop: [END], thinkingOpen: true });
    const characters = scriptedTokenizer([END, '<think>']);
    const text = characters.decode(characters.encode(open.answerTurn('Where?', 'Kalla')));
    expect(text).toBe(`</think>\n<answer> Kalla </answer>${END}`);
    expect(open.parse(text, { reason: 'stop' }, 'Where?')).toMatchObject({ formatOk: true, action: { text: 'Kalla' } });
  });
});
