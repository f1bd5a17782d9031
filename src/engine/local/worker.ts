/** One thread of the local engine: runs graphs for whoever asks, one request at a time. */
import { parentPort, workerData } from 'node:worker_threads';
import { messageOf, UserError } from '../../util/error.ts';
import { KvPool } from './kv-cache.ts';
import { clipGradient, Optimizer } from './optimizer.ts';
import { layoutOf } from './qwen3.ts';
import { openRuntime } from './runtime.ts';
import { SampleGraphs } from './sample-graphs.ts';
import { SampleBatch } from './sampler.ts';
import { Trainer } from './trainer.ts';
import type { WorkerData, WorkerReply, WorkerRequest, WorkerResults } from './worker-protocol.ts';

const { config, prefer } = workerData as WorkerData;
const port = parentPort!;
const runtime = await openRuntime(prefer);
const trainer = new Trainer(config, runtime);
const optimizer = new Optimizer(layoutOf(config), runtime);
const graphs = new SampleGraphs(config, runtime);
const pool = new KvPool();
const batches = new Map<number, SampleBatch>();

async function handle(request: WorkerRequest): Promise<WorkerResults[WorkerRequest['op']]> {
  switch (request.op) {
    case 'ready':
      return { runtime: runtime.kind, version: runtime.ort.env.versions.common };
    case 'accumulate': {
      const theta = Float32Array.from(new Float32Array(request.theta));
      trainer.clear();
      let loss = 0;
      const logprobs: Float32Array[][] = [];
      for (const micro of request.micros) {
        const part = await trainer.accumulate(theta, request.batch, micro, request.objective);
        loss += part.loss;
        logprobs.push(part.logprobs);
      }
      if (request.grad !== null) new Float32Array(request.grad).set(trainer.grad);
      return { loss, logprobs };
    }
    case 'step': {
      const { state, settings } = request;
      const [grad, ...others] = request.grads.map((g) => new Float32Array(g)) as [Float32Array, ...Float32Array[]];
      for (const other of others) for (let i = 0; i < grad.length; i++) grad[i] = grad[i]! + other[i]!;
      const gradNorm = clipGradient(grad, settings.gradClip);
      const moments = { m: new Float32Array(state.m), v: new Float32Array(state.v), step: request.step };
      const theta = new Float32Array(state.theta);
      await optimizer.step(theta, grad, moments, settings);
      // One sum tells: a weight that is no number, or infinite, makes it so.
      if (!Number.isFinite(theta.reduce((sum, w) => sum + w, 0)))
        throw new UserError(
          `after this step the weights are no finite numbers (learning rate ${settings.learningRate}, gradient norm ${gradNorm}); lower the learning rate`,
        );
      return { gradNorm };
    }
    case 'open':
      batches.set(request.batch, new SampleBatch(graphs, Float32Array.from(new Float32Array(request.theta)), pool));
      return null;
    case 'sample': {
      const batch = batches.get(request.batch)!;
      const before = { sampled: batch.sampled, prefilled: batch.prefilled };
      const completions = await batch.sample(request.requests, request.lanes);
      const usage = { sampled: batch.sampled - before.sampled, prefilled: batch.prefilled - before.prefilled };
      return { completions, usage };
    }
    case 'close':
      batches.get(request.batch)?.close();
      batches.delete(request.batch);
      return null;
    default:
      return request satisfies never;
  }
}

// Requests are answered in order: two that interleave at an await would share the trainer's gradient.
let queue: Promise<void> = Promise.resolve();
port.on('message', ({ id, request }: { id: number; request: WorkerRequest }) => {
  queue = queue.then(async () => {
    let reply: WorkerReply;
    try {
      reply = { id, ok: true, value: await handle(request) };
    } catch (error) {
      const user = error instanceof UserError;
      const stack = error instanceof Error && !user ? error.stack : undefined;
      reply = { id, ok: false, error: stack ?? messageOf(error), user };
    }
    port.postMessage(reply);
  });
});
