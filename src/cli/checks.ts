/** What a machine must offer for a run, one row each: what was found, and what to do where it is not enough. */
import { mkdtemp, rm, statfs, writeFile } from 'node:fs/promises';
import { freemem } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { openRuntime } from '../engine/local/runtime.ts';
import { policyDir, readPolicy, SHIPPED } from '../recipe/policies.ts';
import { exists } from '../util/disk.ts';
import { messageOf, UserError } from '../util/error.ts';
import { probe } from './probe.ts';

export interface Finding {
  /** `poor`: it works, but not well. */
  readonly state: 'good' | 'poor' | 'failed';
  readonly found: string;
  /** What to do; empty when it is good. */
  readonly fix: string;
}

export interface Check {
  readonly name: string;
  /** A thrown error is a failure. */
  run(): Promise<Finding>;
}

const good = (found: string): Finding => ({ state: 'good', found, fix: '' });
const poor = (found: string, fix: string): Finding => ({ state: 'poor', found, fix });
const failed = (found: string, fix: string): Finding => ({ state: 'failed', found, fix });

const NODE_MAJOR = 20;
const GIB = 2 ** 30;
/** A quick run keeps about half a gigabyte of rollouts and states; both engine threads together hold about as much. */
const LEAST = 0.5 * GIB;
const COMFORTABLE = 2 * GIB;

/** @param dir where runs are to be written; need not exist. */
export const checks = (dir: string): readonly Check[] => [
  { name: 'Node', run: async () => nodeFinding(process.versions.node) },
  { name: 'ONNX Runtime', run: runtimeFinding },
  { name: 'Memory', run: async () => roomFinding(availableMemory(), 'in memory', 'close other programs') },
  {
    name: 'Disk space',
    run: async () => roomFinding(await freeDisk(dir), `at ${resolve(dir)}`, 'free space, or give another --run folder'),
  },
  { name: 'Run folder', run: () => writeFinding(dir) },
  ...SHIPPED.map((name) => ({ name: `Policy ${name}`, run: () => policyFinding(policyDir(name)) })),
  { name: 'Train and sample', run: probeFinding },
];

export function nodeFinding(version: string): Finding {
  const major = Number(version.split('.')[0]);
  return major >= NODE_MAJOR
    ? good(`version ${version}`)
    : failed(`version ${version}`, `install Node ${NODE_MAJOR} or later (nodejs.org)`);
}

async function runtimeFinding(): Promise<Finding> {
  const { kind } = await openRuntime();
  return kind === 'native'
    ? good('native binary')
    : poor('WebAssembly fallback, 3 to 5 times slower', 'run "npm ci" again where the native binary can be fetched');
}

/** Under a container limit that is what counts. */
const availableMemory = (): number => (process as { availableMemory?: () => number }).availableMemory?.() ?? freemem();

export function roomFinding(bytes: number, where: string, fix: string): Finding {
  const found = `${(bytes / GIB).toFixed(1)} GiB free ${where}`;
  if (bytes < LEAST) return failed(found, `${fix}: at least ${LEAST / GIB} GiB are needed`);
  return bytes < COMFORTABLE ? poor(found, `${fix}: ${COMFORTABLE / GIB} GiB are comfortable`) : good(found);
}

async function freeDisk(dir: string): Promise<number> {
  const { bavail, bsize } = await statfs(await existing(dir));
  return bavail * bsize;
}

/** The folder itself or the closest one around it that is there. */
async function existing(dir: string): Promise<string> {
  const path = resolve(dir);
  return (await exists(path)) || dirname(path) === path ? path : existing(dirname(path));
}

async function writeFinding(dir: string): Promise<Finding> {
  const parent = await existing(dir);
  try {
    const folder = await mkdtemp(join(parent, '.crossfold-doctor-'));
    try {
      await writeFile(join(folder, 'probe'), 'x'.repeat(4096));
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  } catch (error) {
    return failed(
      `${parent} cannot be written (${messageOf(error)})`,
      'make it writable, or give another folder with --run',
    );
  }
  return good(`${parent} can be written`);
}

export async function policyFinding(dir: string): Promise<Finding> {
  try {
    const { weights } = await readPolicy(dir);
    if (!weights.every(Number.isFinite))
      throw new UserError(`${dir}: model.safetensors holds values that are no numbers`);
    return good(`${(weights.length / 1e6).toFixed(2)} M weights`);
  } catch (error) {
    return failed(messageOf(error), 'install crossfold again, or make it with "crossfold pretrain"');
  }
}

async function probeFinding(): Promise<Finding> {
  try {
    return good(await probe());
  } catch (error) {
    return failed(messageOf(error), 'run "npm ci" again; if it persists, report it with this output');
  }
}
