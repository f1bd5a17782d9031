/** A YAML file of settings: any part of EvolveConfig, and the preset it starts from. Errors name file, line, field and fix. */
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { type Document, LineCounter, parseDocument } from 'yaml';
import { z } from 'zod';
import { codeOf, diskError } from '../util/disk.ts';
import { messageOf, UserError } from '../util/error.ts';
import { firstComplaint, quote } from './complaint.ts';
import { docsSchema, evolveSchema, worldSchema } from './config.ts';
import { isShipped } from './policies.ts';
import { PRESETS, type PresetName } from './presets.ts';

const fileSchema = evolveSchema.partial().extend({
  preset: z
    .enum(Object.keys(PRESETS) as [PresetName, ...PresetName[]])
    .optional()
    .describe('Row of numbers that the file changes'),
  task: z
    .discriminatedUnion('kind', [
      worldSchema.partial().extend({ kind: worldSchema.shape.kind }),
      docsSchema.partial().extend({ kind: docsSchema.shape.kind }),
    ])
    .optional(),
});

export type FileConfig = z.infer<typeof fileSchema>;

/** JSON Schema of the file, for editors. */
export const fileJsonSchema = (): object => ({ title: 'Settings of crossfold', ...z.toJSONSchema(fileSchema) });

/** Paths in the file are relative to its folder. @throws UserError */
export async function readConfigFile(file: string): Promise<FileConfig> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') throw new UserError(`${file}: no such file; --config wants a YAML file`);
    if (codeOf(error) === 'EISDIR') throw new UserError(`${file}: is a folder; --config wants a YAML file`);
    throw diskError(file, 'read', error);
  }
  const { policy, tokenizer, task, ...config } = parseConfig(text, file);
  const place = (path: string): string => resolve(dirname(file), path);
  return {
    ...config,
    ...(policy === undefined ? {} : { policy: isShipped(policy) ? policy : place(policy) }),
    ...(tokenizer === undefined ? {} : { tokenizer: isShipped(tokenizer) ? tokenizer : place(tokenizer) }),
    ...(task === undefined ? {} : { task: 'path' in task && task.path ? { ...task, path: place(task.path) } : task }),
  };
}

/** `file` is only named in errors. */
export function parseConfig(text: string, file: string): FileConfig {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const [broken] = document.errors;
  if (broken !== undefined) {
    const what = broken.message.split('\n')[0]!.replace(/ at line \d+, column \d+:?$/, '');
    throw new UserError(`${file}:${lines.linePos(broken.pos[0]).line}: not YAML: ${what}`);
  }
  const value = settingsIn(document, file);
  const result = fileSchema.safeParse(value);
  if (result.success) return result.data;
  if (typeof value !== 'object' || Array.isArray(value)) {
    throw new UserError(`${file}: holds ${quote(value)}; expected lines of the form "rounds: 3"`);
  }
  const { path, message } = firstComplaint(result.error, value);
  throw new UserError(`${file}:${lineOf(document, path, lines)}: ${message}`);
}

function settingsIn(document: Document, file: string): unknown {
  try {
    return document.toJS() ?? {};
  } catch (error) {
    // Aliases that multiply without end are refused by the parser.
    throw new UserError(`${file}: not settings: ${messageOf(error)}`);
  }
}

/** Line of the node at `path`, or of the closest one around it. */
function lineOf(document: Document, path: readonly PropertyKey[], lines: LineCounter): number {
  for (let depth = path.length; depth > 0; depth--) {
    const node = document.getIn(path.slice(0, depth), true) as { range?: [number, number, number] } | undefined;
    if (node?.range) return lines.linePos(node.range[0]).line;
  }
  return 1;
}
