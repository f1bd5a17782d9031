/** `crossfold doctor --engine`, as it is typed. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runProgram } from '../../src/cli/program.ts';
import { recorded } from '../cli/terminal.ts';
import { openSite, type Site } from './tinker-client-fixture.ts';

let site: Site;
beforeAll(async () => {
  site = await openSite();
});
afterAll(() => site.close());

async function doctor(...args: string[]) {
  const { terminal, out, err } = recorded();
  return { code: await runProgram(['doctor', ...args], terminal), out: out(), err: err() };
}

describe('doctor --engine', () => {
  it('finds the local engine able', { timeout: 60_000 }, async () => {
    const { code, out } = await doctor('--engine', 'local', '--policy', 'mini');
    expect(out).toMatch(/^local\/onnxruntime-/);
    expect(out).toMatch(/\nok {4}gradient scale +changes 0\.02/);
    expect(out).toContain('The engine does what it should.');
    expect(code).toBe(0);
  });

  it('exits 3 when an engine fails a check, and says what was expected', { timeout: 60_000 }, async () => {
    const engine = ['--engine', `tinker:${site.url}`, '--base', 'tiny', '--tokenizer', 'mini'];
    // The tiny model has 24 tokens; those of this tokenizer are others.
    const { code, out, err } = await doctor(...engine);
    expect(out).toMatch(/^tinker\/tiny\/official\/rank=32\/seed=0\nok {4}token ids/);
    expect(out).toMatch(
      /\nFAIL {2}max tokens .*360 tokens, the server's model 24; --tokenizer .*\n +expected no error\n/,
    );
    expect(err).toMatch(/4 of 14 checks failed: max tokens, recomputation, save and load, snapshots/);
    expect(code).toBe(3);
    const json = await doctor(...engine, '--json');
    expect(JSON.parse(json.out)).toMatchObject({ ok: false, engine: expect.stringContaining('tinker/tiny') });
  });

  it('says of a dead server what to do about it, not how to go on with a run', async () => {
    // The deadline of the address: it is not waited for.
    const dead = ['--engine', 'tinker:http://127.0.0.1:1#deadline=1', '--base', 'm', '--tokenizer', 'mini'];
    const { code, err } = await doctor(...dead);
    expect(err).toMatch(/start the server, or correct its address, and check again$/m);
    expect(err).not.toContain('last step');
    expect(code).toBe(3);
  });

  it.each([
    [['--engine', 'tinker:http://127.0.0.1:1'], 2, /needs --base/],
    [['--engine', 'tinker:http://127.0.0.1:1', '--base', 'm'], 2, /needs --tokenizer/],
    [['--engine', 'mystery'], 2, /expected local .* or openai:URL .* or tinker:URL/],
  ])('%j', async (args, expected, message) => {
    const { code, err } = await doctor(...args);
    expect(err).toMatch(message);
    expect(code).toBe(expected);
  });
});

describe('evolve --engine', () => {
  const evolve = async (...args: string[]) => {
    const { terminal, err } = recorded();
    return { code: await runProgram(['evolve', '--print-config', ...args], terminal), err: err() };
  };
  it.each([
    [['--base', 'm'], /--base is "m", but the local engine takes its model by --policy/],
    [['--engine', 'openai:http://127.0.0.1:1'], /a run that trains has local or tinker:URL/],
    [['--engine', 'tinker:http://127.0.0.1:1'], /needs --base/],
    [['--engine', 'tinker:http://127.0.0.1:1', '--base', 'm'], /needs --tokenizer/],
  ])('%j', async (args, message) => {
    const { code, err } = await evolve(...args);
    expect(err).toMatch(message);
    expect(code).toBe(2);
  });
});
