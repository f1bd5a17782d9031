/** A runtime whose sessions write ONNX Runtime's profile, and the profile as time by kind of work. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Runtime } from '../src/engine/local/runtime.ts';

const KINDS: Readonly<Record<string, readonly string[]>> = {
  'matrix products': ['MatMul', 'FusedMatMul', 'Gemm'],
  elementwise: ['Mul', 'Add', 'Sub', 'Sum', 'Neg', 'Exp', 'Log', 'Max', 'Clip', 'Sigmoid', 'Cast', 'LessOrEqual'],
  'softmax and norms': ['Softmax', 'SimplifiedLayerNormalization', 'ReduceSum'],
  'copies and layout': ['Transpose', 'Concat', 'Slice', 'Split', 'Pad', 'Gather', 'ScatterND', 'Reshape', 'Identity'],
};

interface ProfileEvent {
  readonly cat: string;
  readonly name: string;
  /** Microseconds. */
  readonly dur: number;
  readonly args: { readonly op_name?: string };
}

export interface Profile {
  readonly runtime: Runtime;
  /** Seconds of one run of all kernels by kind, each node at its quickest; call after the sessions are released. */
  read(): Record<string, number>;
}

export function profiled({ ort, kind }: Runtime): Profile {
  const folder = mkdtempSync(join(tmpdir(), 'crossfold-profile-'));
  return {
    runtime: {
      ort,
      kind,
      open: (model) =>
        ort.InferenceSession.create(model, {
          executionProviders: ['cpu'],
          intraOpNumThreads: 1,
          interOpNumThreads: 1,
          logSeverityLevel: 3,
          enableProfiling: true,
          profileFilePrefix: join(folder, 'run'),
        }),
    },
    read() {
      const best = new Map<string, ProfileEvent>();
      for (const file of readdirSync(folder)) {
        for (const event of JSON.parse(readFileSync(join(folder, file), 'utf8')) as ProfileEvent[]) {
          if (event.cat !== 'Node' || !event.name.endsWith('_kernel_time')) continue;
          const before = best.get(event.name);
          if (!before || event.dur < before.dur) best.set(event.name, event);
        }
      }
      rmSync(folder, { recursive: true });
      const sums: Record<string, number> = {};
      for (const { dur, args } of best.values()) {
        const kind = Object.keys(KINDS).find((k) => KINDS[k]!.includes(args.op_name ?? '')) ?? 'other';
        sums[kind] = (sums[kind] ?? 0) + dur / 1e6;
      }
      return sums;
    },
  };
}
