/**
 * Training runs and their checkpoints on disk: runs/<run>/run.json and runs/<run>/<kind>/<name>.json. A record names blobs;
 * it is written after them and removed before them, so a record is whole wherever the server died.
 */
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { codeOf, diskError, makeFolder, replaceFile } from '../../../util/disk.ts';
import { UserError } from '../../../util/error.ts';
import { CHECKPOINT_KINDS, type CheckpointKind, type CheckpointPath } from '../wire/path.ts';

const runSchema = z.object({
  id: z.string(),
  /** Name of the base model, and the content address of its weights. */
  base: z.string(),
  basePolicy: z.string(),
  rank: z.number().nullable(),
  created: z.string(),
  metadata: z.record(z.string(), z.unknown()).nullable(),
});
export type Run = z.infer<typeof runSchema>;

const checkpointSchema = z.object({
  run: z.string(),
  kind: z.enum(CHECKPOINT_KINDS),
  name: z.string(),
  policy: z.string(),
  optimizer: z.string().nullable(),
  time: z.string(),
  bytes: z.number(),
  expires: z.string().nullable(),
  metadata: z.record(z.string(), z.string()).nullable(),
});
export type Checkpoint = z.infer<typeof checkpointSchema>;

export interface Checkpoints {
  runs(): readonly Run[];
  run(id: string): Run | undefined;
  addRun(run: Run): Promise<void>;
  /** Of one run or of all, oldest first. */
  list(run?: string): readonly Checkpoint[];
  find(path: CheckpointPath): Checkpoint | undefined;
  /** Replaces one of the same path. */
  put(checkpoint: Checkpoint): Promise<void>;
  remove(path: CheckpointPath): Promise<void>;
}

/** Run ids hold colons, which not all disks take. */
const folderOf = (run: string): string => run.replaceAll(':', '_');
const keyOf = ({ run, kind, name }: CheckpointPath): string => `${run}/${kind}/${name}`;

/** Reads what is in `root`. @throws UserError for a damaged record. */
export async function openCheckpoints(root: string): Promise<Checkpoints> {
  const runs = new Map<string, Run>();
  const checkpoints = new Map<string, Checkpoint>();
  for (const folder of await names(root)) {
    const run = await readRecord(join(root, folder, 'run.json'), runSchema);
    if (run === null) continue;
    runs.set(run.id, run);
    for (const kind of CHECKPOINT_KINDS) {
      for (const file of await names(join(root, folder, kind))) {
        if (!file.endsWith('.json')) continue;
        const record = await readRecord(join(root, folder, kind, file), checkpointSchema);
        if (record !== null) checkpoints.set(keyOf(record), record);
      }
    }
  }
  const fileOf = ({ run, kind, name }: CheckpointPath): string => join(root, folderOf(run), kind, `${name}.json`);
  const write = async (folder: string, file: string, record: object): Promise<void> => {
    await makeFolder(folder);
    await replaceFile(file, `${JSON.stringify(record, null, 2)}\n`);
  };
  return {
    runs: () => [...runs.values()].sort((a, b) => (a.created < b.created ? -1 : 1)),
    run: (id) => runs.get(id),
    async addRun(run) {
      const folder = join(root, folderOf(run.id));
      await write(folder, join(folder, 'run.json'), run);
      runs.set(run.id, run);
    },
    list: (run) =>
      [...checkpoints.values()]
        .filter((c) => run === undefined || c.run === run)
        .sort((a, b) => (a.time < b.time ? -1 : 1)),
    find: (path) => checkpoints.get(keyOf(path)),
    async put(record) {
      await write(join(root, folderOf(record.run), record.kind), fileOf(record), record);
      checkpoints.set(keyOf(record), record);
    },
    async remove(path) {
      checkpoints.delete(keyOf(path));
      await rm(fileOf(path), { force: true }).catch((error) => {
        throw diskError(fileOf(path), 'write', error);
      });
    },
  };
}

/** Sorted; none where there is no such folder. */
async function names(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).sort();
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return [];
    throw diskError(folder, 'read', error);
  }
}

/** Null where there is no such file. */
async function readRecord<T>(file: string, schema: z.ZodType<T>): Promise<T | null> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return null;
    throw diskError(file, 'read', error);
  }
  const parsed = z
    .string()
    .transform((line, context) => {
      try {
        return JSON.parse(line) as unknown;
      } catch {
        context.addIssue('not JSON');
        return z.NEVER;
      }
    })
    .pipe(schema)
    .safeParse(text);
  if (parsed.success) return parsed.data;
  throw new UserError(`${file}: damaged (${parsed.error.issues[0]!.message}); restore it from a copy or remove it`);
}

export const isExpired = ({ expires }: Checkpoint, now: number): boolean =>
  expires !== null && Date.parse(expires) <= now;

export const kindOfType = (kind: CheckpointKind): 'training' | 'sampler' =>
  kind === 'weights' ? 'training' : 'sampler';
