import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { asRecorded, unplaced } from '../../src/recipe/address.ts';
import { tinyConfig } from '../e2e/tiny.ts';

const onServer = (engine: string) => tinyConfig({ engine, base: 'mini', tokenizer: '/somewhere' });
let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'crossfold-moved-'));
  const config = onServer('tinker:http://127.0.0.1:8111#deadline=60');
  const manifest = { schema: 1, recipe: 'compare', config, seed: 3, codeVersion: 'x', parents: [] };
  await writeFile(join(dir, 'run.json'), JSON.stringify(manifest));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

it('a run goes on when its server has another address', async () => {
  const now = onServer('tinker:http://10.0.0.9:9000');
  expect(await asRecorded(dir, now)).toEqual({ ...now, engine: 'tinker:http://127.0.0.1:8111#deadline=60' });
});

it('and is refused on another engine', async () => {
  expect((await asRecorded(dir, tinyConfig())).engine).toBeUndefined();
  expect((await asRecorded(join(dir, 'new'), onServer('tinker:http://a'))).engine).toBe('tinker:http://a');
});

it('so does one whose judge has moved, with the settings of the loop beside others; another model is another judge', async () => {
  const judged = (judge: string, judgeModel = 'm') => tinyConfig({ matcher: 'judge', judge, judgeModel });
  const own = join(dir, 'train');
  await mkdir(own);
  const config = { recipe: 'r1', loop: judged('openai:http://127.0.0.1:8000'), gold: null };
  const manifest = { schema: 1, recipe: 'train', config, seed: 3, codeVersion: 'x', parents: [] };
  await writeFile(join(own, 'run.json'), JSON.stringify(manifest));
  expect(await asRecorded(own, judged('openai:http://10.0.0.9:9000'))).toEqual(config.loop);
  expect(await asRecorded(own, judged('openai:http://10.0.0.9:9000', 'other'))).toEqual({
    ...config.loop,
    judgeModel: 'other',
  });
  expect(unplaced(config.loop)).toEqual(unplaced(judged('openai:http://10.0.0.9:9000')));
});
