/**
 * The local engine on one thread: tokens trained, sampled and prefilled per second beside the GEMM rate of the same runtime
 * in the same run. All figures are per second of CPU time, which other load on the machine disturbs least; on a quiet
 * machine that is wall time. `--json` prints the figures as JSON.
 */
import { execFile } from 'node:child_process';
import { availableParallelism, cpus, loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { Graph } from '../src/engine/local/graph.ts';
import { initialWeights } from '../src/engine/local/init.ts';
import { KvPool } from '../src/engine/local/kv-cache.ts';
import { clipGradient, Optimizer } from '../src/engine/local/optimizer.ts';
import { layoutOf, type ModelConfig } from '../src/engine/local/qwen3.ts';
import { openRuntime, type Runtime } from '../src/engine/local/runtime.ts';
import { SampleGraphs } from '../src/engine/local/sample-graphs.ts';
import { SampleBatch } from '../src/engine/local/sampler.ts';
import { microBatches, objectiveOf, Trainer } from '../src/engine/local/trainer.ts';
import type { Datum } from '../src/engine.ts';
import { messageOf } from '../src/util/error.ts';
import { rng } from '../src/util/rng.ts';
import { decodingFlops, trainingFlops } from './engine-flops.ts';
import { profiled } from './engine-profile.ts';

const SHAPE = { layers: 4, heads: 4, kvHeads: 2, contextLength: 512, ropeTheta: 10000, embeddingRate: 20 };
const MODELS: Readonly<Record<string, ModelConfig>> = {
  '0.25 M': { ...SHAPE, vocabSize: 512, hiddenSize: 64, headDim: 16, ffSize: 192 },
  '1 M': { ...SHAPE, vocabSize: 2048, hiddenSize: 128, headDim: 32, ffSize: 352 },
};
const [ROWS, LENGTH] = [8, 256];
const [LANES, PROMPT, NEW, LONG_PROMPT] = [64, 32, 97, 192];
const ADAMW = { learningRate: 1e-4, beta1: 0.9, beta2: 0.95, eps: 1e-8, weightDecay: 0.1, gradClip: 1 };

/** CPU seconds of this process so far. */
const now = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
};
/** Fewest CPU seconds of several runs after one that warms up. */
async function quickest(runs: number, work: () => Promise<unknown>): Promise<number> {
  await work();
  let best = Number.POSITIVE_INFINITY;
  for (let i = 0; i < runs; i++) {
    const from = now();
    await work();
    best = Math.min(best, now() - from);
  }
  return best;
}

/** FLOP/s of x [m, k] · w [k, n], six products a run so that calling costs nothing. */
async function gemmRate(runtime: Runtime, [m, k, n]: readonly [number, number, number]): Promise<number> {
  const g = new Graph();
  const x = g.input('x', 'float32', [m, k]);
  for (let i = 0; i < 6; i++) {
    const y = g.op('MatMul', [x, g.input(`w${i}`, 'float32', [k, n])], [m, n]);
    g.output(g.op('Slice', [y, g.ints(0), g.ints(1), g.ints(0)], [1, n]), `y${i}`);
  }
  const { Tensor } = runtime.ort;
  const values = (rows: number, cols: number) =>
    new Tensor(
      'float32',
      Float32Array.from({ length: rows * cols }, (_, i) => ((i * 37) % 97) / 97 - 0.5),
      [rows, cols],
    );
  const feeds = {
    x: values(m, k),
    ...Object.fromEntries(Array.from({ length: 6 }, (_, i) => [`w${i}`, values(k, n)])),
  };
  const session = await runtime.open(g.encode());
  const flops = 12 * m * k * n;
  const seconds = await quickest(Math.min(20, Math.max(3, Math.ceil(2e10 / flops))), () => session.run(feeds));
  await session.release();
  return flops / seconds;
}

function batchOf(c: ModelConfig, share: number): Datum[] {
  const draw = rng('bench', c.vocabSize);
  return Array.from({ length: ROWS }, () => ({
    tokens: Array.from({ length: LENGTH + 1 }, () => draw.below(c.vocabSize)),
    // A run of positions at the end of each stretch, as replies follow prompts and documents.
    weights: Array.from({ length: LENGTH }, (_, t) => (t % 64 >= 64 * (1 - share) ? 1 / (ROWS * LENGTH) : 0)),
  }));
}

async function training(c: ModelConfig, runtime: Runtime, share: number): Promise<{ tokens: number; flops: number }> {
  const zeros = (): Float32Array => new Float32Array(layoutOf(c).size);
  const [theta, moments] = [initialWeights(c, 1), { m: zeros(), v: zeros(), step: 0 }];
  const [trainer, optimizer] = [new Trainer(c, runtime), new Optimizer(layoutOf(c), runtime)];
  const batch = batchOf(c, share);
  const micros = microBatches(batch);
  const seconds = await quickest(8, async () => {
    trainer.clear();
    for (const micro of micros) await trainer.accumulate(theta, batch, micro, objectiveOf('cross_entropy'));
    clipGradient(trainer.grad, ADAMW.gradClip);
    await optimizer.step(theta, trainer.grad, moments, ADAMW);
  });
  await trainer.close();
  const tokens = ROWS * LENGTH;
  return { tokens: tokens / seconds, flops: trainingFlops(c, ROWS, LENGTH, tokens * share) / seconds };
}

/** Where the kernels' time of a training step goes, each at its quickest, and how near GEMM their products come. */
async function kernels(c: ModelConfig, runtime: Runtime, gemm: number) {
  const profile = profiled(runtime);
  await training(c, profile.runtime, 1);
  const seconds = profile.read();
  const total = Object.values(seconds).reduce((a, b) => a + b, 0);
  // A node's quickest run is one micro-batch.
  const rows = microBatches(batchOf(c, 1))[0]!.rows.length;
  const flops = trainingFlops(c, rows, LENGTH, rows * LENGTH);
  return {
    timeByKind: Object.fromEntries(Object.entries(seconds).map(([kind, s]) => [kind, s / total])),
    share: flops / total / gemm,
    shareOfProducts: flops / seconds['matrix products']! / gemm,
  };
}

async function sampling(
  c: ModelConfig,
  runtime: Runtime,
): Promise<{ sampled: number; flops: number; prefilled: number }> {
  const graphs = new SampleGraphs(c, runtime);
  const theta = initialWeights(c, 1);
  const lanes = Array.from({ length: LANES }, (_, i) => i);
  const run = (prompt: number, maxTokens: number) => () =>
    new SampleBatch(graphs, theta, new KvPool()).sample(
      lanes.map((i) => {
        const draw = rng('prompt', i);
        const ids = Array.from({ length: prompt }, () => draw.below(c.vocabSize));
        return { prompt: ids, maxTokens, temperature: 1, topP: 1, stop: [], key: `${i}` };
      }),
      lanes,
    );
  const long = await quickest(3, run(LONG_PROMPT, 1));
  const [first, all] = [await quickest(3, run(PROMPT, 1)), await quickest(3, run(PROMPT, NEW))];
  await graphs.close();
  const steps = NEW - 1;
  let flops = 0;
  for (let step = 0; step < steps; step++) flops += decodingFlops(c, LANES, Math.ceil((PROMPT + step) / 64));
  return {
    sampled: (LANES * steps) / (all - first),
    flops: flops / (all - first),
    prefilled: (LANES * LONG_PROMPT) / long,
  };
}

interface Peer {
  readonly version: string;
  /** FLOP/s of PyTorch's own product of 2048×512×512: how good its BLAS is. */
  readonly gemm: number;
  readonly trained: number;
  readonly sampled: number;
}
/** PyTorch where a Python has it, else why not. */
async function peer(c: ModelConfig): Promise<Peer | string> {
  const script = fileURLToPath(new URL('./engine-peer.py', import.meta.url));
  const sizes = [c.vocabSize, c.hiddenSize, c.layers, c.heads, c.kvHeads, c.headDim, c.ffSize].map(String);
  const env = { ...process.env, OPENBLAS_NUM_THREADS: '1', OMP_NUM_THREADS: '1' };
  const failures: string[] = [];
  for (const python of [process.env.PYTHON ?? 'python3', '/usr/bin/python3']) {
    try {
      const { stdout } = await promisify(execFile)(python, [script, ...sizes], { env });
      return JSON.parse(stdout) as Peer;
    } catch (error) {
      failures.push(`${python}: ${messageOf(error).trim().split('\n').at(-1)}`);
    }
  }
  return `skipped (${failures.join('; ')})`;
}

async function measure(name: string, c: ModelConfig, runtime: Runtime) {
  const [d, f, V] = [c.hiddenSize, c.ffSize, c.vocabSize];
  const sizes = [
    [2048, d, d],
    [2048, d, f],
    [2048, f, d],
    [2048, d, 512],
    [2048, d, V],
    [2048, 512, 512],
    [512, 512, 512],
  ] as const satisfies readonly (readonly [number, number, number])[];
  const gemms: { size: string; rate: number }[] = [];
  for (const size of sizes) gemms.push({ size: size.join('×'), rate: await gemmRate(runtime, size) });
  const [all, quarter] = [await training(c, runtime, 1), await training(c, runtime, 0.25)];
  const decoding = await sampling(c, runtime);
  // Again, so that a change of load during the run does not favour either side.
  for (const [i, size] of sizes.entries()) gemms[i]!.rate = Math.max(gemms[i]!.rate, await gemmRate(runtime, size));
  const gemm = Math.max(...gemms.map((g) => g.rate));
  return {
    model: name,
    parameters: layoutOf(c).size,
    gemm,
    gemms,
    training: { tokens: all.tokens, flops: all.flops, share: all.flops / gemm },
    trainingQuarterScored: { tokens: quarter.tokens, flops: quarter.flops, share: quarter.flops / gemm },
    sampling: { tokens: decoding.sampled, flops: decoding.flops, share: decoding.flops / gemm },
    prefill: { tokens: decoding.prefilled },
    kernels: await kernels(c, runtime, gemm),
    peer: await peer(c),
  };
}

const { values } = parseArgs({ options: { json: { type: 'boolean', default: false } } });
const runtime = await openRuntime();
const machine = {
  cpu: cpus()[0]?.model ?? 'unknown',
  cores: availableParallelism(),
  load: loadavg()[0]!,
  node: process.version,
  runtime: `onnxruntime ${runtime.ort.env.versions.common} ${runtime.kind}`,
};
const results = [];
for (const [name, config] of Object.entries(MODELS)) results.push(await measure(name, config, runtime));

if (values.json) console.log(JSON.stringify({ machine, results }, null, 2));
else {
  console.log(
    `${machine.cpu}, ${machine.cores} cores, load ${machine.load.toFixed(1)}, Node ${machine.node}, ${machine.runtime}`,
  );
  console.log(
    `one thread; ${ROWS} × ${LENGTH} tokens a step; sampling ${LANES} rows, tokens ${PROMPT} to ${PROMPT + NEW - 1}`,
  );
  if (machine.load > 0.5) console.log('The machine is not quiet: rates are low, shares hold.');
  const k = (x: number): string => `${(x / 1000).toFixed(1)} k`;
  const percent = (x: number): string => `${(100 * x).toFixed(0)} %`;
  for (const r of results) {
    console.log(`\n${r.model} parameters (${r.parameters})`);
    console.log(
      `  GEMM              ${(r.gemm / 1e9).toFixed(0)} GFLOP/s, the best of ${r.gemms.map((g) => g.size).join(', ')}`,
    );
    console.log(`  trained           ${k(r.training.tokens)} tokens/s, ${percent(r.training.share)} of GEMM`);
    const quarter = r.trainingQuarterScored;
    console.log(`  25 % scored       ${k(quarter.tokens)} tokens/s, ${percent(quarter.share)} of GEMM`);
    console.log(`  sampled           ${k(r.sampling.tokens)} tokens/s, ${percent(r.sampling.share)} of GEMM`);
    console.log(`  prefilled         ${k(r.prefill.tokens)} tokens/s`);
    const { timeByKind, share, shareOfProducts } = r.kernels;
    const kinds = Object.entries(timeByKind).sort(([, a], [, b]) => b - a);
    console.log(`  training kernels  ${kinds.map(([kind, part]) => `${kind} ${percent(part)}`).join(', ')};`);
    console.log(`    at their quickest ${percent(share)} of GEMM, the products alone ${percent(shareOfProducts)}`);
    if (typeof r.peer === 'string') console.log(`  PyTorch           ${r.peer}`);
    else {
      const { version, trained, sampled, gemm } = r.peer;
      const ratios = [r.training.tokens / trained, r.sampling.tokens / sampled].map((x) => `${x.toFixed(2)}x`);
      console.log(`  PyTorch ${version}, GEMM ${(gemm / 1e9).toFixed(0)} GFLOP/s`);
      console.log(`    trained ${k(trained)}, sampled ${k(sampled)} tokens/s; the engine is ${ratios.join(' and ')}`);
    }
  }
}
