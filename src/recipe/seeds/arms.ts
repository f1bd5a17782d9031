/**
 * Arms of a comparison: a system, or a training baseline, under settings. Settings are named where they differ from those of
 * the first run, in the words of the flags: "dr-zero, proposer-estimator grpo". Runs of one report share task, rounds and base
 * model.
 */
import { ESTIMATORS } from '../../method/advantage.ts';
import { UserError } from '../../util/error.ts';
import type { EvolveConfig } from '../config.ts';
import { FIELDS, type Field } from '../fields.ts';

export interface Settled {
  readonly dir: string;
  readonly config: EvolveConfig;
  /** Systems of the run, or the recipe of a training baseline. */
  readonly systems: readonly string[];
  /** Gold questions that it trains on; null for those that write their own. */
  readonly gold: { readonly file: string | null; readonly questions: number } | null;
}

export interface Arm {
  /** The system or recipe, then what differs. */
  readonly name: string;
  readonly system: string;
  /** ", proposer-estimator grpo"; empty for the settings of the first run. */
  readonly suffix: string;
  /** Settings that differ from the first run's, by their name in run.json. */
  readonly settings: Readonly<Record<string, unknown>>;
}

/** Runs that hold the arm, one a seed. */
export interface ArmRuns<R> extends Arm {
  readonly runs: readonly R[];
}

const isTask = ({ path }: Field): boolean => path[0] === 'task';
/** With other ones it is another experiment, not an arm. `base` is the base model on a server. */
const SHARED = FIELDS.filter((field) => isTask(field) || ['policy', 'base', 'rounds'].includes(field.path[0]!));
/**
 * No arm: what every arm varies, and where it runs. `workers` changes the rounding, so equal seeds are other draws of the same
 * arm; the report says so. `engine`, `tokenizer` and `judge` are where the models stand that others name.
 */
const UNNAMED = ['seed', 'systems', 'workers', 'engine', 'tokenizer', 'judge'];
const NAMED = FIELDS.filter((field) => !SHARED.includes(field) && !UNNAMED.includes(field.path[0]!));

/**
 * In order of first appearance: the first run's first system is the reference. UserError: runs of other tasks, rounds or base
 * models, or two that hold the same arm and seed.
 */
export function armsOf<R extends Settled>(runs: readonly R[]): ArmRuns<R>[] {
  const [first] = runs;
  if (first === undefined)
    throw new UserError('no run was named; give the folders of runs of evolve, compare or train');
  const arms = new Map<string, ArmRuns<R>>();
  for (const run of runs) {
    checkShared(first, run);
    checkGold(runs.find(({ gold }) => gold !== null) ?? run, run);
    const own = settingsArm(first.config, run.config);
    for (const system of run.systems) {
      const name = system + own.suffix;
      const held = arms.get(name)?.runs ?? [];
      const { seed } = run.config;
      const twin = held.find(({ config }) => config.seed === seed);
      if (twin !== undefined)
        throw new UserError(`${run.dir} and ${twin.dir} both hold ${name}, seed ${seed}; name one of them`);
      arms.set(name, { name, system, ...own, runs: [...held, run] });
    }
  }
  return [...arms.values()];
}

function checkShared(first: Settled, run: Settled): void {
  const complain = (name: string, value: unknown, expected: unknown): never => {
    throw new UserError(
      `${run.dir}: ${name} is ${value ?? 'not set'}, but in ${first.dir} it is ${expected ?? 'not set'}; runs of one report may differ in any setting but task, rounds and policy (see run.json in both)`,
    );
  };
  const [kind, expected] = [run.config.task.kind, first.config.task.kind];
  if (kind !== expected) complain('task', kind, expected);
  for (const { path, flag } of SHARED) {
    const [value, wanted] = [valueAt(run.config, path), valueAt(first.config, path)];
    if (value !== wanted) complain(flag, value, wanted);
  }
}

function checkGold(first: Settled, run: Settled): void {
  const said = ({ gold }: Settled): string =>
    gold === null ? '' : `${gold.questions} gold questions${gold.file === null ? '' : ` of ${gold.file}`}`;
  if (run.gold !== null && said(run) !== said(first))
    throw new UserError(
      `${run.dir}: trained on ${said(run)}, but ${first.dir} on ${said(first)}; runs of one report share their gold questions`,
    );
}

function settingsArm(reference: EvolveConfig, config: EvolveConfig): Pick<Arm, 'suffix' | 'settings'> {
  const [before, after] = [typed(reference), typed(config)];
  const named = NAMED.filter(({ path }) => valueAt(before, path) !== valueAt(after, path));
  const differs = NAMED.filter(({ path }) => valueAt(reference, path) !== valueAt(config, path));
  return {
    suffix: named.map(({ path, flag }) => `, ${flag.slice(2)} ${valueAt(config, path)}`).join(''),
    settings: Object.fromEntries(differs.map(({ path }) => [path[0]!, valueAt(config, path)])),
  };
}

/** As its user gave it: responses that follow from the estimator are not named with it. */
function typed(config: EvolveConfig): object {
  const { responses, ...rest } = config;
  return responses === ESTIMATORS[config.estimator].responses ? rest : config;
}

const valueAt = (config: object, path: readonly string[]): unknown =>
  path.reduce((at: unknown, name) => (at as Readonly<Record<string, unknown>> | undefined)?.[name], config);
