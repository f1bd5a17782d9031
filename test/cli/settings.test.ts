import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { addSettings, settingsOf } from '../../src/cli/settings.ts';
import { evolveSchema } from '../../src/recipe/config.ts';
import { fileJsonSchema, parseConfig, readConfigFile } from '../../src/recipe/config-file.ts';
import { FIELDS } from '../../src/recipe/fields.ts';
import { type CommandName, PRESETS } from '../../src/recipe/presets.ts';
import { UserError } from '../../src/util/error.ts';
import { folder } from '../store/folder.ts';

async function resolved(name: CommandName, ...args: string[]) {
  const command = addSettings(new Command(name), name);
  command.exitOverride().parse(args, { from: 'user' });
  return settingsOf(command, name);
}

const SYSTEM_NAMES =
  'dr-zero, crossfit, msv, msv+crossfit, same-source, full-data, random-question, half-budget, msv+same-source, msv+full-data, msv+random-question, msv+half-budget';

describe('settings', () => {
  it.each([
    [['--feedback', 'coupled'], 'dr-zero'],
    [['--label', 'msv'], 'msv+crossfit'],
    [['--system', 'dr-zero', '--label', 'msv'], 'msv'],
    [['--feedback', 'half-budget', '--label', 'msv'], 'msv+half-budget'],
  ])('columns of the systems table: %j is %s', async (args, system) => {
    expect((await resolved('evolve', ...args)).config.systems).toEqual([system]);
  });

  it('of a judge: its address is no part of the name of the run, and another matcher leaves it behind', async () => {
    const by = (url: string) => ['--matcher', 'judge', '--judge', url, '--judge-model', 'm'];
    const { config, dir } = await resolved('evolve', ...by('openai:http://127.0.0.1:8000/?x=1'));
    expect(config).toMatchObject({ matcher: 'judge', judge: 'openai:http://127.0.0.1:8000', judgeModel: 'm' });
    expect((await resolved('evolve', ...by('openai:http://10.0.0.9:1/v1'))).dir).toBe(dir);
    expect((await resolved('evolve', ...by('openai:http://10.0.0.9:1/v1'), '--judge-model', 'n')).dir).not.toBe(dir);
    await expect(resolved('evolve', ...by('openai:http://me:key@host'))).rejects.toThrow(/must not hold a password/);
    const file = join(folder(), 'run.yaml');
    writeFileSync(file, 'matcher: judge\njudge: openai:http://127.0.0.1:8000\njudgeModel: m\n');
    expect((await resolved('evolve', '--config', file)).config).toEqual(config);
    const { config: exact } = await resolved('evolve', '--config', file, '--matcher', 'exact');
    expect([exact.matcher, exact.judge, exact.judgeModel]).toEqual(['exact', undefined, undefined]);
  });

  it('are those of the quick preset on the miniature world', async () => {
    const { config, preset, dir } = await resolved('compare');
    expect(preset).toBe('quick');
    expect(dir).toBe(join('runs', 'compare-quick-seed1'));
    expect(config.task).toMatchObject({ kind: 'world', unverifiable: 0.25 });
    expect(config).toMatchObject({ policy: 'mini', systems: ['dr-zero', 'crossfit'], topK: 2, hopMix: '4:3:2:1' });
    expect(evolveSchema.parse(config)).toEqual(config);
  });

  it('name a system once', async () => {
    await expect(resolved('compare', '--systems', 'crossfit,crossfit')).rejects.toThrow(/name crossfit once/);
  });

  it('of an estimator bring the responses that it was published with', async () => {
    const { config } = await resolved('compare', '--proposer-estimator', 'grpo');
    expect(config.responses).toBe(4);
    const { config: own } = await resolved('compare', '--proposer-estimator', 'grpo', '--responses', '6');
    expect(own.responses).toBe(6);
  });

  it('of the paper are the published ones', async () => {
    const { config } = await resolved('compare', '--preset', 'paper');
    // method.md section 1: 18 + 25 steps a round, 64 prompts, 1,600 questions, T 0.8, top-p 0.95.
    expect(config).toMatchObject({
      rounds: 3,
      proposerSteps: 18,
      prompts: 64,
      admitted: 1600,
      solverSteps: 25,
      questions: 64,
      responses: 5,
      auxiliarySteps: 25,
      temperature: 0.8,
      topP: 0.95,
      weightDecay: 0.01,
      gradClip: 0.1,
      lossMean: 'sequence',
      sources: 240,
    });
  });

  it.each(Object.keys(PRESETS))('of %s are complete for both tasks', async (preset) => {
    await resolved('compare', '--preset', preset);
    const { config } = await resolved('evolve', '--preset', preset, '--docs', 'some/folder');
    expect(config).toMatchObject({ policy: 'reader', topK: 3, hopMix: '1:0:0:0', systems: ['crossfit'] });
    expect(config.task).toMatchObject({ kind: 'docs', path: resolve('some/folder') });
  });

  it('have a flag each, named after the setting', async () => {
    const names = FIELDS.map(({ flag }) => flag);
    expect(new Set(names).size).toBe(names.length);
    for (const flag of [
      '--proposer-estimator',
      '--difficulty',
      '--format-weight',
      '--hops',
      '--source-pool',
      '--matcher',
    ])
      expect(names).toContain(flag);
    expect(names).toContain('--unverifiable');
    const { config } = await resolved(
      'compare',
      ...['--proposer-estimator', 'grpo', '--difficulty', 'parabolic', '--format-weight', '0', '--solver-rate', '1e-3'],
      ...['--hops', '1:1:1:1', '--source-pool', 'single-pass', '--matcher', 'cover', '--rounds', '2'],
      ...['--unverifiable', '0', '--world-seed', '9', '--seed', '4', '--systems', 'crossfit, dr-zero'],
    );
    expect(config).toMatchObject({
      estimator: 'grpo',
      difficulty: 'parabolic',
      formatWeight: 0,
      solverRate: 0.001,
      hopMix: '1:1:1:1',
      sourcePool: 'single-pass',
      matcher: 'cover',
      rounds: 2,
      seed: 4,
      systems: ['crossfit', 'dr-zero'],
    });
    expect(config.task).toMatchObject({ unverifiable: 0, seed: 9 });
  });

  it('name the run folder: the same request has the same one, another request another', async () => {
    const dir = async (...args: string[]) => (await resolved('evolve', ...args)).dir.replaceAll('\\', '/');
    expect(await dir()).toBe('runs/evolve-crossfit-quick-seed1');
    expect(await dir('--system', 'dr-zero', '--seed', '3')).toBe('runs/evolve-dr-zero-quick-seed3');
    expect(await dir('--docs', '/data/my docs')).toBe('runs/evolve-crossfit-quick-my_docs-seed1');
    const ablation = await dir('--rounds', '2');
    expect(ablation).toMatch(/^runs\/evolve-crossfit-quick-seed1-[0-9a-f]{6}$/);
    expect(await dir('--rounds', '2')).toBe(ablation);
    expect(await dir('--rounds', '4')).not.toBe(ablation);
    expect(await dir('--rounds', '3')).toBe('runs/evolve-crossfit-quick-seed1');
  });

  it.each([
    [['--rounds', 'three'], '--rounds is "three"; expected a whole number, at least 1'],
    [['--rounds', '1.5'], '--rounds is "1.5"; expected a whole number, at least 1'],
    [['--rounds', ''], '--rounds is ""; expected a whole number, at least 1'],
    [['--temperature', '0'], '--temperature is "0"; expected a number, above 0, at most 2'],
    [
      ['--proposer-estimator', 'hpro'],
      '--proposer-estimator is "hpro"; expected one of hrpo, grpo, global (did you mean hrpo?)',
    ],
    [['--preset', 'qick'], '--preset is "qick"; expected one of quick, standard, paper (did you mean quick?)'],
    [['--preset', 'constructor'], '--preset is "constructor"; expected one of quick, standard, paper'],
    [['--system', 'dr-zro'], `--system is "dr-zro"; expected a list of ${SYSTEM_NAMES} (did you mean dr-zero?)`],
    [
      ['--system', 'dr-zero,crossfit'],
      'systems is dr-zero, crossfit; evolve runs one: name it with --system, or use compare',
    ],
    [
      ['--docs', 'd', '--miss', '0.1'],
      '--miss is a setting of the world task, but this run is about documents; leave it out, or leave out --docs',
    ],
    [
      ['--gold', '5'],
      '--gold is a setting of the docs task, but this run is about the miniature world; name the documents with --docs',
    ],
    [['--config', 'nowhere.yaml'], 'nowhere.yaml: no such file; --config wants a YAML file'],
  ])('%j is refused in one line', async (args, message) => {
    await expect(resolved('evolve', ...args)).rejects.toThrow(new UserError(message));
  });
});

describe('settings file', () => {
  it('changes a preset; flags change the file; paths are relative to it', async () => {
    const dir = folder();
    mkdirSync(join(dir, 'docs'));
    writeFileSync(
      join(dir, 'run.yaml'),
      'preset: standard # longer\nrounds: 2\nseed: 7\npolicy: ./mine\ntask:\n  kind: docs\n  path: docs\n',
    );
    const file = join(dir, 'run.yaml');
    const { config, preset } = await resolved('evolve', '--config', file, '--seed', '8');
    expect(preset).toBe('standard');
    expect(config).toMatchObject({ rounds: 2, seed: 8, policy: join(dir, 'mine'), solverSteps: 25 });
    expect(config.task).toEqual({ kind: 'docs', path: join(dir, 'docs'), gold: PRESETS.standard.gold });
    expect((await resolved('evolve', '--config', file, '--preset', 'quick')).config.solverSteps).toBe(
      PRESETS.quick.loop.solverSteps,
    );
    // Other documents bring other defaults, not the file's path.
    const other = (await resolved('evolve', '--config', file, '--docs', 'elsewhere')).config.task;
    expect(other).toMatchObject({ path: resolve('elsewhere') });
  });

  it('may be what --print-config printed', async () => {
    const { config, dir } = await resolved('evolve', '--rounds', '2');
    const { stringify } = await import('yaml');
    const printed = join(folder(), 'a.yaml');
    writeFileSync(printed, stringify(config));
    const again = await resolved('evolve', '--config', printed);
    expect(again).toEqual({ preset: 'quick', config, dir });
  });

  it.each([
    ['rounds: three', 'c.yaml:1: rounds is "three"; expected a whole number, at least 1'],
    ['# a\n\nseed: 1\nrounds: 0', 'c.yaml:4: rounds is 0; expected a whole number, at least 1'],
    ['solver_steps: 4', 'c.yaml:1: unknown setting "solver_steps"; did you mean "solverSteps"?'],
    ['colour: red', 'c.yaml:1: unknown setting "colour"; "crossfold evolve --print-config" lists all'],
    ['unverifiable: 0', 'c.yaml:1: unknown setting "unverifiable"; it belongs inside "task"'],
    ['task:\n  kind: world\n  rounds: 1', 'c.yaml:3: unknown setting "task.rounds"; it belongs outside "task"'],
    ['task:\n  kind: wrld', 'c.yaml:2: task.kind is "wrld"; expected one of world, docs'],
    ['task:\n  miss: 0.1', 'c.yaml:2: task.kind is missing; expected one of world, docs'],
    ['task: world', 'c.yaml:1: task is "world"; expected settings of a task, first of all its kind'],
    ['systems: [dr-zero, crosfit]', `c.yaml:1: systems is "crosfit"; expected a list of ${SYSTEM_NAMES}`],
    ['preset: quik', 'c.yaml:1: preset is "quik"; expected one of quick, standard, paper'],
    ['topP: 3\nmatcher: x', 'c.yaml:1: topP is 3; expected a number, above 0, at most 1 (and 1 more)'],
    ['- 1', 'c.yaml: holds [1]; expected lines of the form "rounds: 3"'],
    ['rounds: 1\nrounds: 2', 'c.yaml:2: not YAML: Map keys must be unique'],
    ['__proto__: 1', 'c.yaml:1: unknown setting "__proto__"; "crossfold evolve --print-config" lists all'],
  ])('%j is refused with line, setting and fix', (text, message) => {
    expect(() => parseConfig(text, 'c.yaml')).toThrow(new UserError(message));
  });

  it('is refused when documents have no path', async () => {
    const file = join(folder(), 'a.yaml');
    writeFileSync(file, 'task:\n  kind: docs\n');
    await expect(resolved('evolve', '--config', file)).rejects.toThrow(
      new UserError('task.path is missing; expected a text (Folder or file of documents)'),
    );
    expect((await readConfigFile(file)).task).toEqual({ kind: 'docs' });
  });

  it('has a JSON Schema with every setting', () => {
    const { properties } = fileJsonSchema() as { properties: Record<string, unknown> };
    expect(Object.keys(properties).sort()).toEqual([...Object.keys(evolveSchema.shape), 'preset'].sort());
    expect(parse('rounds: 3')).toEqual({ rounds: 3 });
  });
});
