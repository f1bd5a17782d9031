/** The official Tinker SDK in a virtual environment of its own, outside of the repository and used again. */
import { execFile } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const VERSION = '0.38.0';
/** What does not fit is gone on with the next time. */
const INSTALL_MS = 45_000;
const run = promisify(execFile);

/** The environment's Python, or why there is none. */
export async function sdkPython(): Promise<{ readonly python: string } | { readonly missing: string }> {
  const venv = join(tmpdir(), `crossfold-tinker-sdk-${VERSION}`);
  const python = join(venv, process.platform === 'win32' ? 'Scripts/python.exe' : 'bin/python');
  const [made, complete] = [join(venv, 'made'), join(venv, 'complete')];
  if (existsSync(complete)) return { python };
  const end = Date.now() + INSTALL_MS;
  const step = async (file: string, args: readonly string[]): Promise<void> => {
    await run(file, args, { timeout: Math.max(1, end - Date.now()) });
  };
  try {
    if (!existsSync(made)) await step('python3', ['-m', 'venv', venv]);
    writeFileSync(made, '');
    await step(python, ['-m', 'pip', 'install', '--quiet', '--no-compile', '--prefer-binary', `tinker==${VERSION}`]);
    writeFileSync(complete, VERSION);
    return { python };
  } catch (error) {
    const { killed, stderr, message } = error as { killed?: boolean; stderr?: string; message: string };
    const why = killed
      ? `it took longer than ${INSTALL_MS / 1000} s; the next run goes on`
      : (stderr || message).trim().split('\n').at(-1)!;
    return { missing: `tinker ${VERSION} cannot be installed from PyPI with python3: ${why}` };
  }
}
