/** A SkyRL server on a free port of this machine: started, waited for, and stopped with everything that it started. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, open, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { messageOf } from '../../src/util/error.ts';

const START_MINUTES = 5;
const STOP_SECONDS = 45;
/** Slot 0 is the base model's. */
const ADAPTERS = 16;
export const RANK = 8;

export interface SkyrlServer {
  readonly url: string;
  /** Folder of its model, and the model's name on the wire. */
  readonly base: string;
  stop(): Promise<void>;
}

/** `log`: everything that the server prints. */
export async function startSkyrl(
  environment: { readonly python: string; readonly uv: string },
  policy: string,
  log: string,
): Promise<SkyrlServer> {
  const folder = await mkdtemp(join(tmpdir(), 'crossfold-skyrl-server-'));
  const base = join(folder, 'model');
  await cp(policy, base, { recursive: true });
  const port = await freePort();
  const output = await open(log, 'w');
  const args = ['run', '-m', 'skyrl.tinker.api', '--base-model', base, '--backend', 'jax', '--host', '127.0.0.1'];
  args.push('--port', String(port), '--checkpoints-base', join(folder, 'checkpoints'));
  args.push('--database-url', `sqlite:///${join(folder, 'tinker.db')}`, '--backend-config', JSON.stringify(BACKEND));
  const env = {
    ...process.env,
    PATH: `${dirname(environment.uv)}:${process.env.PATH}`,
    SKYRL_FOLDER: folder,
    JAX_PLATFORMS: 'cpu',
    HF_HUB_OFFLINE: '1',
    // Compiling is most of a run: with less care, and kept beside the environment.
    XLA_FLAGS: '--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true',
    JAX_COMPILATION_CACHE_DIR: join(dirname(dirname(environment.uv)), 'compiled'),
    JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS: '0.5',
  };
  // A process group of its own: Ctrl-C reaches the test, and the test's end is the server's.
  const child = spawn('nice', ['-n', '5', environment.uv, ...args], {
    cwd: folder,
    env,
    stdio: ['pipe', output.fd, output.fd],
    detached: true,
  });
  const stop = async (): Promise<void> => {
    await stopped(child);
    await output.close();
    await rm(folder, { recursive: true, force: true });
  };
  const url = `http://127.0.0.1:${port}`;
  try {
    await answers(`${url}/api/v1/healthz`, child);
    return { url, base, stop };
  } catch (error) {
    await stop();
    const said = (await readFile(log, 'utf8')).trimEnd().split('\n').slice(-20).join('\n');
    throw new Error(`SkyRL did not start: ${messageOf(error)}\n${said}`);
  }
}

/** Every shape is compiled anew: sequences are trained one by one, and sampled sixteen at a time (padded). */
const BACKEND = {
  max_lora_adapters: ADAPTERS,
  max_lora_rank: RANK,
  train_micro_batch_size: 1,
  sample_max_num_sequences: 16,
};

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

async function answers(url: string, child: ChildProcess): Promise<void> {
  const end = Date.now() + START_MINUTES * 60_000;
  while (Date.now() < end) {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error(`it ended with ${child.exitCode}`);
    const ok = await fetch(url, { signal: AbortSignal.timeout(5000) }).then(
      (reply) => reply.ok,
      () => false,
    );
    if (ok) return;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  throw new Error(`it did not answer in ${START_MINUTES} minutes`);
}

async function stopped(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.stdin!.end();
  const late = setTimeout(() => kill(child), STOP_SECONDS * 1000);
  await ended;
  clearTimeout(late);
  // Its engine, where that outlived it.
  kill(child);
}

function kill({ pid }: ChildProcess): void {
  try {
    process.kill(-pid!, 'SIGKILL');
  } catch {
    // The group is gone.
  }
}
