/** The settings as a list, read off the schema: one flag each, and words for what a value must be. */
import { z } from 'zod';
import { UserError } from '../util/error.ts';
import { docsSchema, evolveSchema, worldSchema } from './config.ts';
import type { TaskKind } from './presets.ts';

export interface Field {
  /** Where it lies in EvolveConfig: `['rounds']`, `['task', 'miss']`. */
  readonly path: readonly string[];
  /** The task it is a setting of; null for all. */
  readonly task: TaskKind | null;
  /** `--first-rank` */
  readonly flag: string;
  readonly about: string;
  /** `a whole number, at least 1`; follows "expected" in an error. */
  readonly expected: string;
  readonly type: 'number' | 'text' | 'list';
  /** Names it may have; empty where it is no closed set. */
  readonly choices: readonly string[];
  /** Reads what was typed after the flag; checked by `schema` afterwards. */
  readonly read: (typed: string) => unknown;
  readonly schema: z.ZodType;
}

interface Shape {
  readonly type?: 'integer' | 'number' | 'string' | 'array';
  readonly enum?: readonly string[];
  readonly items?: Shape;
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
  readonly description?: string;
}

/** Flags that are not the name of their setting: two settings are called `seed`, a path says little, the rest is short. */
const FLAGS: Readonly<Record<string, string>> = {
  'task.seed': '--world-seed',
  'task.path': '--docs',
  hopMix: '--hops',
  estimator: '--proposer-estimator',
  gate: '--invalid',
  auxiliarySteps: '--aux-budget',
};

const kebab = (name: string): string => name.replace(/[A-Z]/g, (c) => `-${c.toLowerCase()}`);

function fieldOf(path: readonly string[], task: TaskKind | null, schema: z.ZodType): Field {
  const shape = z.toJSONSchema(schema) as Shape;
  const type = shape.type === 'array' ? 'list' : shape.type === 'string' ? 'text' : 'number';
  return {
    path,
    task,
    flag: FLAGS[path.join('.')] ?? `--${kebab(path.at(-1)!)}`,
    about: shape.description ?? '',
    expected: expectation(shape),
    type,
    choices: shape.enum ?? shape.items?.enum ?? [],
    read: READERS[type],
    schema,
  };
}

/** `a, b` as it is typed for an option that takes several. */
const listIn = (typed: string): string[] => typed.split(',').map((part) => part.trim());

/** The same where each must be one of `known`. @throws UserError: another name, an empty one, or none at all. */
export function namesIn(flag: string, typed: string, known: readonly string[], expected = 'some of '): string[] {
  const names = listIn(typed);
  const unknown = names.find((name) => !known.includes(name));
  if (unknown === undefined) return names;
  const found = typed.trim() === '' ? `is "${typed}"` : `names "${unknown}"`;
  throw new UserError(`${flag} ${found}; expected ${expected}${known.join(', ')}`);
}

/** Typed text becomes a number only where one is wanted and it is one; the schema complains about the rest. */
const READERS: Readonly<Record<Field['type'], Field['read']>> = {
  number: (typed) => (typed.trim() !== '' && Number.isFinite(Number(typed)) ? Number(typed) : typed),
  text: (typed) => typed,
  list: listIn,
};

function expectation(shape: Shape): string {
  if (shape.type === 'array') return `a list of ${shape.items?.enum?.join(', ')}`;
  if (shape.enum !== undefined) return `one of ${shape.enum.join(', ')}`;
  if (shape.type !== 'integer' && shape.type !== 'number') return `a text (${shape.description})`;
  const { minimum, exclusiveMinimum, maximum } = shape;
  const bounds = [
    minimum === undefined ? [] : [`at least ${minimum}`],
    exclusiveMinimum === undefined ? [] : [`above ${exclusiveMinimum}`],
    maximum === undefined || maximum >= Number.MAX_SAFE_INTEGER ? [] : [`at most ${maximum}`],
  ].flat();
  return [shape.type === 'integer' ? 'a whole number' : 'a number', ...bounds].join(', ');
}

const fieldsOf = (shape: Readonly<Record<string, z.ZodType>>, prefix: readonly string[], task: TaskKind | null) =>
  Object.entries(shape).map(([name, schema]) => fieldOf([...prefix, name], task, schema));

/** In the order of the schema. The kind of task is no field: it follows from the documents. */
export const FIELDS: readonly Field[] = [
  ...fieldsOf(evolveSchema.omit({ task: true }).shape, [], null),
  ...fieldsOf(worldSchema.omit({ kind: true }).shape, ['task'], 'world'),
  ...fieldsOf(docsSchema.omit({ kind: true }).shape, ['task'], 'docs'),
];

/** The field at a path of an error, or above it (an element of a list). */
export const fieldAt = (path: readonly PropertyKey[]): Field | undefined =>
  FIELDS.find(({ path: own }) => own.every((name, i) => name === path[i]));
