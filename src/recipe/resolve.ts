/** Preset, then file, then flags: the settings of a run with nothing left open. */
import { basename, join, resolve } from 'node:path';
import { ESTIMATORS, type Estimator } from '../method/advantage.ts';
import { canonical } from '../store/json.ts';
import { UserError } from '../util/error.ts';
import { contentId } from '../util/id.ts';
import { unplaced } from './address.ts';
import { firstComplaint } from './complaint.ts';
import { type EvolveConfig, evolveSchema } from './config.ts';
import type { FileConfig } from './config-file.ts';
import type { Field } from './fields.ts';
import { isShipped } from './policies.ts';
import {
  COMMANDS,
  type CommandName,
  DEFAULT_PRESET,
  DEFAULT_SEED,
  PRESETS,
  type PresetName,
  TASKS,
} from './presets.ts';
import { settledEngine } from './run-engine.ts';
import { settledJudge } from './run-matcher.ts';

/** A setting given by flag, already read by its field. */
export interface Override {
  readonly field: Field;
  readonly value: unknown;
}

export interface Request {
  readonly command: CommandName;
  readonly preset?: PresetName | undefined;
  readonly file?: FileConfig | undefined;
  readonly overrides: readonly Override[];
}

export interface Resolved {
  readonly preset: PresetName;
  readonly config: EvolveConfig;
  /** Folder of the run, unless the user names one: equal requests have equal folders. */
  readonly dir: string;
}

/** @throws UserError naming the setting. */
export function resolveConfig(request: Request): Resolved {
  const { command, file, overrides } = request;
  const preset = request.preset ?? file?.preset ?? DEFAULT_PRESET;
  const docs = overrides.some(({ field }) => field.flag === '--docs');
  const kind = docs ? 'docs' : (file?.task?.kind ?? 'world');
  const plain = defaults(command, preset, kind);
  const { preset: _, task, ...settings } = withoutJudge(file ?? {}, overrides);
  const layers: Record<string, unknown>[] = [settings];
  const tasks: Record<string, unknown>[] = [plain.task, task?.kind === kind ? task : {}];
  for (const { field, value } of overrides) {
    if (field.task !== null && field.task !== kind) throw otherTask(field, kind);
    (field.path[0] === 'task' ? tasks : layers).push({ [field.path.at(-1)!]: value });
  }
  layers.unshift(plain, responsesOf(Object.assign({}, ...layers).estimator));
  const wanted = { ...Object.assign({}, ...layers), task: withFullPath(Object.assign({}, ...tasks)) };
  const result = evolveSchema.safeParse(wanted);
  if (!result.success) throw new UserError(firstComplaint(result.error, wanted).message);
  const { policy } = result.data;
  const config = settledJudge(settledEngine({ ...result.data, policy: isShipped(policy) ? policy : resolve(policy) }));
  const twice = config.systems.find((name, i) => config.systems.indexOf(name) !== i);
  if (twice !== undefined) throw new UserError(`systems is ${config.systems.join(', ')}; name ${twice} once`);
  if (command === 'evolve' && config.systems.length > 1) {
    throw new UserError(
      `systems is ${config.systems.join(', ')}; evolve runs one: name it with --system, or use compare`,
    );
  }
  return { preset, config, dir: join('runs', runName(command, preset, config)) };
}

function defaults(command: CommandName, preset: PresetName, kind: keyof typeof TASKS) {
  const { task, ...own } = TASKS[kind];
  return {
    ...PRESETS[preset].loop,
    ...own,
    systems: [...COMMANDS[command]],
    seed: DEFAULT_SEED,
    task: { kind, ...task(PRESETS[preset]) },
  };
}

/** Another matcher by flag leaves the judge of the file behind: no flag takes it away. */
function withoutJudge(file: FileConfig, overrides: readonly Override[]): FileConfig {
  const { judge: _, judgeModel: __, ...rest } = file;
  return overrides.some(({ field, value }) => field.flag === '--matcher' && value !== 'judge') ? rest : file;
}

/** What the published arm of an estimator asks, unless the user says otherwise: GRPO is 4 trajectories × 4 responses. */
function responsesOf(estimator: unknown): Record<string, unknown> {
  const row = ESTIMATORS[estimator as Estimator];
  return row === undefined ? {} : { responses: row.responses };
}

function otherTask(field: Field, kind: string): UserError {
  const on = { world: 'the miniature world', docs: 'documents' }[kind as 'world' | 'docs'];
  const fix = field.task === 'docs' ? 'name the documents with --docs' : 'leave it out, or leave out --docs';
  return new UserError(`${field.flag} is a setting of the ${field.task} task, but this run is about ${on}; ${fix}`);
}

/** A run can be continued from any folder. */
const withFullPath = (task: Record<string, unknown>): Record<string, unknown> =>
  typeof task.path === 'string' ? { ...task, path: resolve(task.path) } : task;

/** `compare-quick-seed1`; a run that departs from its preset gets a mark of how. */
function runName(command: CommandName, preset: PresetName, config: EvolveConfig): string {
  const plain = { ...defaults(command, preset, config.task.kind), seed: config.seed };
  const { systems, task, ...rest } = config;
  const path = 'path' in task ? { path: task.path } : {};
  const expected = { ...plain, ...(command === 'evolve' ? { systems } : {}), task: { ...plain.task, ...path } };
  const departs = canonical({ ...rest, systems, task }) !== canonical(expected);
  return [
    command,
    ...(command === 'evolve' ? systems : []),
    preset,
    ...('path' in task ? [basename(task.path).replace(/[^\w.-]+/g, '_')] : []),
    `seed${config.seed}`,
    ...(departs ? [contentId(canonical(unplaced(config))).slice(0, 6)] : []),
  ].join('-');
}
