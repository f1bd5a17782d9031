/** A zod error about settings in one line: which setting, what it is, what it should be. */
import type { z } from 'zod';
import { nearest } from '../util/suggest.ts';
import { evolveSchema } from './config.ts';
import { FIELDS, fieldAt } from './fields.ts';
import { PRESETS, TASKS } from './presets.ts';

export interface Complaint {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/** How a value is quoted in an error. */
export function quote(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}

/** The first thing wrong with `value`, and how many more there are. */
export function firstComplaint(error: z.ZodError, value: unknown): Complaint {
  const [first, ...others] = error.issues.map((issue) => complaintOf(issue, value));
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
  return { path: first!.path, message: first!.message + more };
}

function complaintOf(issue: z.core.$ZodIssue, value: unknown): Complaint {
  if (issue.code === 'unrecognized_keys') return unknownSetting(issue.path, issue.keys[0]!);
  const path = issue.path;
  const found = path.reduce<unknown>((at, name) => (at as Record<PropertyKey, unknown> | undefined)?.[name], value);
  const field = fieldAt(path);
  const name = field?.path.join('.') ?? path.join('.');
  const is = found === undefined ? 'is missing' : `is ${quote(found)}`;
  return { path, message: `${name} ${is}; expected ${field?.expected ?? EXPECTED[name] ?? issue.message}` };
}

/** Settings of a file that are no fields. */
const EXPECTED: Readonly<Record<string, string>> = {
  preset: `one of ${Object.keys(PRESETS).join(', ')}`,
  task: 'settings of a task, first of all its kind',
  'task.kind': `one of ${Object.keys(TASKS).join(', ')}`,
};

function unknownSetting(path: readonly PropertyKey[], key: string): Complaint {
  const inTask = path[0] === 'task';
  const names = FIELDS.filter((f) => (f.path[0] === 'task') === inTask).map((f) => f.path.at(-1)!);
  const elsewhere = FIELDS.find((f) => f.path.at(-1) === key && (f.path[0] === 'task') !== inTask);
  const close = nearest(key, inTask ? names : [...names, ...Object.keys(evolveSchema.shape), 'preset']);
  const fix =
    elsewhere !== undefined
      ? `it belongs ${inTask ? 'outside' : 'inside'} "task"`
      : close !== null
        ? `did you mean "${close}"?`
        : '"crossfold evolve --print-config" lists all';
  return { path: [...path, key], message: `unknown setting "${[...path, key].join('.')}"; ${fix}` };
}
