/** Where the servers of a run were when it last went on: `ask` and whatever else reads the run later begins there. */
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { engineAt, lastAddresses, recordAddresses } from '../../src/recipe/address.ts';
import { tinyConfig } from '../e2e/tiny.ts';

const onServer = (engine: string) => tinyConfig({ engine, base: 'mini', tokenizer: '/somewhere' });
let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'crossfold-address-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

it('the latest record wins over what the run began with', async () => {
  const written = onServer('tinker:http://127.0.0.1:8111#deadline=60');
  expect(await lastAddresses(dir, written)).toEqual(written);
  await recordAddresses(dir, onServer('tinker:http://10.0.0.9:9000'));
  expect(await lastAddresses(dir, written)).toEqual({ ...written, engine: 'tinker:http://10.0.0.9:9000' });
  await recordAddresses(dir, onServer('tinker:http://10.0.0.9:9001#tuft'));
  expect((await lastAddresses(dir, written)).engine).toBe('tinker:http://10.0.0.9:9001#tuft');
});

it('a run on the local engine leaves and reads none', async () => {
  await recordAddresses(dir, tinyConfig());
  expect(await readdir(dir)).toEqual([]);
  await writeFile(join(dir, 'addresses.json'), '{"engine": "tinker:http://a"}');
  expect(await lastAddresses(dir, tinyConfig())).toEqual(tinyConfig());
});

it('nothing but an address of the same kind is taken from it', async () => {
  const written = onServer('tinker:http://a');
  for (const other of ['{"engine": "local", "seed": 9}', '{"engine": 7}', 'null', '[]', '"x"']) {
    await writeFile(join(dir, 'addresses.json'), other);
    expect(await lastAddresses(dir, written)).toEqual(written);
  }
  await writeFile(join(dir, 'addresses.json'), '{"engine');
  await expect(lastAddresses(dir, written)).rejects.toThrow(/addresses\.json: not JSON; remove it/);
});

it('the server can be named', () => {
  expect(engineAt('tinker:http://b', onServer('tinker:http://a')).engine).toBe('tinker:http://b');
  expect(() => engineAt('openai:http://b', onServer('tinker:http://a'))).toThrow(/name it as tinker:URL/);
  expect(() => engineAt('tinker:http://b', tinyConfig())).toThrow(/made on the local engine/);
});
