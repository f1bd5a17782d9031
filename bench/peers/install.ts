/** Installs the peers on the first run: npm's into bench/peers/node_modules, Python's into a virtual environment of their own. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { messageOf } from '../../src/util/error.ts';

const here = dirname(fileURLToPath(import.meta.url));
const environment = fileURLToPath(new URL('../../cache/bench-python', import.meta.url));

const exec = promisify(execFile);
const run = (command: string, args: readonly string[]) =>
  exec(command, [...args], { cwd: here, timeout: 300_000, maxBuffer: 1 << 26 });

/** Null, or why there are no npm peers. A peer that does not compile is missed when it is opened. */
export async function installNpmPeers(): Promise<string | null> {
  if (existsSync(join(here, 'node_modules/minisearch'))) return null;
  // Headers of this Node, where they came with it: nothing is fetched to compile against.
  const prefix = dirname(dirname(process.execPath));
  const headers = existsSync(join(prefix, 'include/node')) ? [`--nodedir=${prefix}`] : [];
  const quiet = ['--no-audit', '--no-fund'];
  try {
    await run('npm', ['ci', ...quiet, ...headers]);
    return null;
  } catch {
    return await run('npm', ['ci', ...quiet, '--ignore-scripts']).then(
      () => null,
      (error) => `npm ci failed: ${lastLine(error)}`,
    );
  }
}

/** The Python that has the peers, or why there is none. */
export async function installPythonPeers(): Promise<{ readonly python: string } | { readonly reason: string }> {
  const python = join(environment, 'bin/python');
  try {
    if (!existsSync(join(environment, 'done'))) {
      await run(process.env.PYTHON ?? 'python3', ['-m', 'venv', environment]);
      await run(python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '-r', 'requirements.txt']);
      await run('touch', [join(environment, 'done')]);
    }
    return { python };
  } catch (error) {
    return { reason: lastLine(error) };
  }
}

export const lastLine = (error: unknown): string => {
  const said = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : '';
  const lines = (said || messageOf(error)).trim().split('\n');
  return (lines.findLast((line) => /error/i.test(line)) ?? lines.at(-1) ?? '').trim().slice(0, 160);
};
