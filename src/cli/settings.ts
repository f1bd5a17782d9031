/** Flags of the commands that run the loop: one for each setting of the schema, and those that choose where to start. */
import { type Command, Option } from 'commander';
import { FEEDBACK_PLANS, type FeedbackPlanName } from '../method/feedback.ts';
import { LABEL_RULES, type LabelRule } from '../method/label.ts';
import type { EvolveConfig } from '../recipe/config.ts';
import { readConfigFile } from '../recipe/config-file.ts';
import { FIELDS, type Field } from '../recipe/fields.ts';
import {
  COMMANDS,
  type CommandName,
  DEFAULT_PRESET,
  DEFAULT_SEED,
  PRESETS,
  type PresetName,
  TASKS,
} from '../recipe/presets.ts';
import { type Override, type Resolved, resolveConfig } from '../recipe/resolve.ts';
import { SYSTEMS, type System, type SystemName, systemOf } from '../recipe/systems.ts';
import { UserError } from '../util/error.ts';
import { nearest } from '../util/suggest.ts';

const SYSTEMS_FIELD = FIELDS.find(({ path }) => path[0] === 'systems')!;
/** Columns of the systems table, for evolve: the row with these. */
const COLUMNS = {
  feedback: { flag: '--feedback', about: 'Who grades the proposer', choices: Object.keys(FEEDBACK_PLANS) },
  labels: { flag: '--label', about: 'Where labels come from', choices: Object.keys(LABEL_RULES) },
} as const satisfies Record<keyof System, unknown>;
const START = 'Where to start:';
const GROUPS = { all: 'Settings:', world: 'The miniature world:', docs: 'Documents:' } as const;
/** Asked for so often that they stand with the choice of the preset. */
const COMMON = ['--docs', '--policy', '--seed'];

/** @param without flags that the command has no use for, or gives another meaning. */
export function addSettings(command: Command, name: CommandName, without: readonly string[] = []): Command {
  const presets = Object.entries(PRESETS).map(([preset, { about }]) => `${preset}: ${about}`);
  command
    .addOption(group(START, new Option('--preset <name>', `row of numbers (${presets.join('; ')})`)))
    .addOption(group(START, new Option('--config <file>', 'YAML file of settings; flags win over it')));
  for (const field of FIELDS) if (!without.includes(flagOf(field, name))) command.addOption(optionOf(field, name));
  if (name === 'evolve' && !without.includes('--system')) {
    for (const { flag, about, choices } of Object.values(COLUMNS))
      command.addOption(
        group(START, new Option(`${flag} <name>`, `${about}, instead of the system's`).choices(choices)),
      );
  }
  return command
    .addOption(group(START, new Option('--print-config', 'print the settings of the run as YAML and end')))
    .addOption(group(START, new Option('--schema', 'print the JSON Schema of --config files and end')));
}

const group = (heading: string, option: Option): Option => option.helpGroup(heading);

/** evolve runs one system, so its flag is singular. */
const flagOf = (field: Field, name: CommandName): string =>
  field === SYSTEMS_FIELD && name === 'evolve' ? '--system' : field.flag;

function optionOf(field: Field, name: CommandName): Option {
  const flag = flagOf(field, name);
  const about = flag === '--system' ? 'System to run' : field.about;
  const option = new Option(`${flag} <${placeholder(field)}>`, about + notes(field, name));
  option.argParser((typed: string): Override => readFlag(field, flag, typed));
  const heading = COMMON.includes(flag) || field === SYSTEMS_FIELD ? START : GROUPS[field.task ?? 'all'];
  return group(heading, option);
}

/** Of settings that are free texts. */
const PLACEHOLDERS: Readonly<Record<string, string>> = {
  path: 'path',
  policy: 'name|dir',
  hopMix: 'weights',
  engine: 'spec',
  judge: 'spec',
  tokenizer: 'dir',
};

const placeholder = ({ type, path }: Field): string =>
  type === 'number' ? 'n' : (PLACEHOLDERS[path.at(-1)!] ?? 'name');

/** Choices, and what holds without the flag. */
function notes(field: Field, name: CommandName): string {
  const key = field.path.at(-1)!;
  const preset = PRESETS[DEFAULT_PRESET];
  const values: Readonly<Record<string, unknown>> = {
    ...preset.loop,
    seed: DEFAULT_SEED,
    systems: COMMANDS[name].join(','),
    ...(field.task === null ? {} : TASKS[field.task].task(preset)),
  };
  const value = values[key];
  const known = value === undefined ? [] : [`${key in preset.loop ? DEFAULT_PRESET : 'default'}: ${value}`];
  const all = [...(field.choices.length === 0 ? [] : [field.choices.join(', ')]), ...known];
  return all.length === 0 ? '' : ` (${all.join('; ')})`;
}

/** @throws UserError naming the flag and what was expected. */
export function readFlag(field: Field, flag: string, typed: string): Override {
  const value = field.read(typed);
  if (field.schema.safeParse(value).success) return { field, value };
  throw new UserError(`${flag} is "${typed}"; expected ${field.expected}${guess(typed, field.choices)}`);
}

function guess(typed: string, names: readonly string[]): string {
  const close = nearest(typed, names);
  return close === null ? '' : ` (did you mean ${close}?)`;
}

/** What was typed, with preset and file: the settings of the run. `from` stands in for a file. @throws UserError */
export async function settingsOf(command: Command, name: CommandName, from?: EvolveConfig): Promise<Resolved> {
  const given = command.opts<{ preset?: string; config?: string; feedback?: FeedbackPlanName; label?: LabelRule }>();
  const overrides = FIELDS.flatMap((field) => {
    const option = command.options.find(({ long }) => long === flagOf(field, name));
    const value: unknown = option && command.getOptionValue(option.attributeName());
    return isOverride(value) ? [value] : [];
  });
  const file = given.config === undefined ? from : await readConfigFile(given.config);
  const { feedback, label } = given;
  if (feedback !== undefined || label !== undefined) {
    const named = overrides.find(({ field }) => field === SYSTEMS_FIELD)?.value as SystemName[] | undefined;
    const row = SYSTEMS[(named ?? file?.systems ?? COMMANDS[name])[0]!];
    overrides.push({ field: SYSTEMS_FIELD, value: [systemOf(feedback ?? row.feedback, label ?? row.labels)] });
  }
  return resolveConfig({ command: name, preset: presetOf(given.preset), file, overrides });
}

const isOverride = (value: unknown): value is Override =>
  typeof value === 'object' && value !== null && 'field' in value;

function presetOf(typed: string | undefined): PresetName | undefined {
  if (typed === undefined || Object.hasOwn(PRESETS, typed)) return typed as PresetName | undefined;
  const names = Object.keys(PRESETS);
  throw new UserError(`--preset is "${typed}"; expected one of ${names.join(', ')}${guess(typed, names)}`);
}
