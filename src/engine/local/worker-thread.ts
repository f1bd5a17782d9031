/** The engine's side of one worker thread: calls with results. */
import { Worker } from 'node:worker_threads';
import { type BusyClock, openBusyClock } from '../../util/busy.ts';
import { InfraError, UserError } from '../../util/error.ts';
import type { WorkerData, WorkerReply, WorkerRequest, WorkerResults } from './worker-protocol.ts';

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

export class WorkerThread {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  readonly #clock: BusyClock = openBusyClock();
  #next = 0;
  /** Why the thread is gone, once it is. */
  #ended: string | null = null;

  constructor(data: WorkerData) {
    this.#worker = startWorker(data);
    this.#worker.on('message', (reply: WorkerReply) => {
      const waiting = this.#waiting.get(reply.id);
      this.#waiting.delete(reply.id);
      if (reply.ok) waiting?.resolve(reply.value);
      else waiting?.reject(reply.user ? new UserError(reply.error) : new Error(reply.error));
    });
    this.#worker.on('error', (error) => this.#fail(`the engine's worker failed: ${error.message}`));
    this.#worker.on('exit', (code) => this.#fail(`the engine's worker ended (exit code ${code})`));
  }

  /** @throws UserError as thrown in the thread; InfraError when the thread is gone or goes. */
  call<R extends WorkerRequest>(request: R): Promise<WorkerResults[R['op']]> {
    if (this.#ended !== null) return Promise.reject(new InfraError(this.#ended));
    const id = this.#next++;
    return this.#clock.track(
      () =>
        new Promise((resolve, reject) => {
          this.#waiting.set(id, { resolve: resolve as Waiting['resolve'], reject });
          this.#worker.postMessage({ id, request });
        }),
    );
  }

  /** Milliseconds with a call under way. */
  busy(): number {
    return this.#clock.total();
  }

  #fail(message: string): void {
    this.#ended ??= `${message}. Run the same command again.`;
    for (const waiting of this.#waiting.values()) waiting.reject(new InfraError(this.#ended));
    this.#waiting.clear();
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }
}

/** From source (tests) the thread needs the TypeScript loader first; the build is plain JavaScript. */
function startWorker(workerData: WorkerData): Worker {
  if (!import.meta.url.endsWith('.ts')) return new Worker(new URL('./worker.js', import.meta.url), { workerData });
  const entry = JSON.stringify(new URL('./worker.ts', import.meta.url).href);
  const loader = JSON.stringify(import.meta.resolve('tsx/esm/api'));
  return new Worker(`import(${loader}).then((tsx) => { tsx.register(); return import(${entry}); })`, {
    eval: true,
    workerData,
  });
}
