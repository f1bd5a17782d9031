/** SkyRL with its JAX backend in a virtual environment of its own, outside of the repository and used again. */
import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, readFile, rm, statfs, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { exists } from '../../src/util/disk.ts';
import { messageOf } from '../../src/util/error.ts';

const run = promisify(execFile);
const HERE = import.meta.dirname;
const REQUIREMENTS = join(HERE, 'requirements.txt');
const INSTALL_MINUTES = 15;
const NEEDED_GB = 4;
/** The first Python that SkyRL 0.4 runs on. */
const PYTHON_MINOR = 12;

/** An environment's folder, or why there is none. */
export type Environment = { readonly python: string; readonly uv: string } | { readonly missing: string };

export async function skyrlEnvironment(): Promise<Environment> {
  const requirements = await readFile(REQUIREMENTS, 'utf8');
  const version = /^skyrl==(\S+)/m.exec(requirements)![1]!;
  const folder = join(tmpdir(), `crossfold-skyrl-${version}`);
  const [python, bin, complete] = [join(folder, 'bin/python'), join(folder, 'shim'), join(folder, 'complete')];
  const environment = { python, uv: join(bin, 'uv') };
  try {
    if (!(await exists(complete)) || (await readFile(complete, 'utf8')) !== requirements) {
      await install(folder, python);
    }
    await mkdir(bin, { recursive: true });
    const shim = await readFile(join(HERE, 'uv.py'), 'utf8');
    await writeFile(environment.uv, `#!${python}\n${shim}`, { mode: 0o755 });
    await writeFile(complete, requirements);
    return environment;
  } catch (error) {
    return { missing: `SkyRL ${version} cannot be installed from PyPI: ${reasonOf(error)}` };
  }
}

async function install(folder: string, python: string): Promise<void> {
  const { bavail, bsize } = await statfs(tmpdir());
  const free = (bavail * bsize) / 1e9;
  if (free < NEEDED_GB) throw new Error(`${tmpdir()} has ${free.toFixed(1)} GB free; it takes ${NEEDED_GB}`);
  const system = await findPython();
  console.log(`Installing SkyRL with JAX for the CPU into ${folder} (some minutes, once)`);
  await rm(folder, { recursive: true, force: true });
  const end = Date.now() + INSTALL_MINUTES * 60_000;
  const step = (file: string, ...args: string[]): Promise<unknown> =>
    run(file, args, { timeout: Math.max(1, end - Date.now()), maxBuffer: 2 ** 26 });
  await step(system, '-m', 'venv', folder);
  // Every package is named with its version: what they ask for besides is PyTorch for CUDA, which nothing here calls.
  const pip = ['-m', 'pip', 'install', '--quiet', '--no-deps', '--no-cache-dir', '--only-binary', ':all:'];
  await step(python, ...pip, '-r', REQUIREMENTS);
  const { stdout } = await run(python, ['-c', 'import sysconfig; print(sysconfig.get_path("purelib"))']);
  await cp(join(HERE, 'stand-in'), stdout.trim(), { recursive: true });
}

async function findPython(): Promise<string> {
  const pyenv = join(process.env.PYENV_ROOT ?? join(homedir(), '.pyenv'), 'versions');
  const found = await readdir(pyenv).catch(() => []);
  const there = found.map((version) => join(pyenv, version, 'bin/python3'));
  for (const python of ['python3', 'python3.12', 'python3.13', 'python3.14', ...there]) {
    const minor = await run(python, ['-c', 'import sys; print(sys.version_info.minor)']).then(
      ({ stdout }) => Number(stdout),
      () => 0,
    );
    if (minor >= PYTHON_MINOR) return python;
  }
  throw new Error(`no Python 3.${PYTHON_MINOR} or newer was found`);
}

function reasonOf(error: unknown): string {
  const { killed, stderr } = error as { killed?: boolean; stderr?: string };
  if (killed) return `it took longer than ${INSTALL_MINUTES} minutes`;
  return stderr?.trim().split('\n').at(-1) || messageOf(error);
}
