/**
 * Forward and, where gradients are wanted, backward pass of the model for sequences of T tokens, as one graph. Logits, and
 * all of the last layer behind its attention, exist only at the scored positions.
 * The gradient of the log-probabilities is that of Σ weight·logp + Σ surrogate, which covers all losses (engine.ts): the
 * caller chooses weight, advantage, old log-probability, clip range, and whether the ratio is a constant. The embedding's gradient comes out in three parts
 * (dense, by input token, by target) because a scatter is cheaper outside the graph.
 */
import { attention } from './attention.ts';
import { Graph, type Value } from './graph.ts';
import { layoutOf, type ModelConfig, ropeTables } from './qwen3.ts';

/** Smallest probability whose logarithm is taken. */
const TINY = 1e-37;

export const gradName = (input: string): string => `grad_${input}`;

export function trainGraph(c: ModelConfig, T: number, gradients = true): Uint8Array {
  const g = new Graph();
  const [d, V] = [c.hiddenSize, c.vocabSize];
  const tokens = g.input('tokens', 'int32', [-1]);
  const scored = g.input('scored', 'int32', [-1]);
  const targets = g.input('targets', 'int32', [-1]);
  const { tensors } = layoutOf(c);
  for (const t of tensors) g.input(t.input, 'float32', t.shape);

  const embedded = g.op('Gather', ['embed', tokens], [-1, d], { axis: 0 });
  const at = g.rms(decoder(g, c, T, embedded, scored), 'norm');

  // Probability of each target.
  const probs = g.op('Softmax', [g.matmul(at, 'embed', false, true)], [-1, V], { axis: -1 });
  const column = (x: Value): Value => g.op('Reshape', [x, g.ints(-1, 1)], [-1, 1]);
  const picked = g.op('GatherElements', [probs, column(targets)], [-1, 1], { axis: 1 });
  const logp = g.op('Log', [g.op('Max', [g.op('Reshape', [picked, g.ints(-1)], [-1]), g.scalar(TINY)], [-1])], [-1]);

  g.output(logp, 'logp');
  if (!gradients) return g.encode();

  // d loss / d logp = -(weight + ratio·advantage where the clip does not bind), the clipped ratio where it is a constant
  const vector = (name: string): Value => g.input(name, 'float32', [-1]);
  const [weight, advantage, old] = [vector('weight'), vector('advantage'), vector('old')];
  const [clipLow, clipHigh] = [g.input('clip_low', 'float32', []), g.input('clip_high', 'float32', [])];
  const detached = g.input('detached', 'bool', []);
  const ratio = g.op('Exp', [g.op('Sub', [logp, old], [-1])], [-1]);
  const surrogate = g.op('Mul', [ratio, advantage], [-1]);
  const clipped = g.op('Mul', [g.op('Clip', [ratio, clipLow, clipHigh], [-1]), advantage], [-1]);
  const free = g.op('Cast', [g.op('LessOrEqual', [surrogate, clipped], [-1])], [-1], { to: 1 });
  const unclipped = g.op('Mul', [surrogate, free], [-1]);
  const slope = g.op('Neg', [g.op('Add', [weight, g.op('Where', [detached, clipped, unclipped], [-1])], [-1])], [-1]);

  // d logp / d hidden = E[target] - p·E, without a dense one-hot
  const slopeColumn = column(slope);
  const scaled = g.op('Mul', [at, slopeColumn], [-1, d]);
  const expected = g.matmul(probs, 'embed');
  const chosen = g.op('Gather', ['embed', targets], [-1, d], { axis: 0 });
  const atGrad = g.op('Mul', [g.op('Sub', [chosen, expected], [-1, d]), slopeColumn], [-1, d]);

  const rest = tensors.filter((t) => t.input !== 'embed');
  const grads = g.backward(at, atGrad, [...rest.map((t) => t.input), embedded]);
  rest.forEach((t, i) => {
    g.output(grads[i]!, gradName(t.input));
  });
  g.output(grads.at(-1)!, 'embed_by_token');
  g.output(scaled, 'embed_by_target');
  g.output(g.matmul(probs, scaled, true, false), 'embed_dense_negative');
  return g.encode();
}

/** The layers. x [B·T, d] → [S, d] at the scored positions, before the last norm. */
function decoder(g: Graph, c: ModelConfig, T: number, input: Value, scored: Value): Value {
  const { heads: H, kvHeads: Hk, headDim: dh } = c;
  const G = H / Hk;
  const { cos, sin } = ropeTables(c, T);
  const table = (name: string, data: Float32Array): Value => g.named(name, 'float32', [T, dh / 2], data);
  const [cosT, sinT, minusSin] = [
    table('cos', cos),
    table('sin', sin),
    table(
      '-sin',
      sin.map((x) => -x),
    ),
  ];
  const positions = g.ints(0);
  const blocks = T % 64 === 0 && T > 64 ? T / 64 : 1;
  let x = input;
  for (let l = 0; l < c.layers; l++) {
    const normed = g.rms(x, `norm1_${l}`);
    const [q, k, v] = [`q_${l}`, `k_${l}`, `v_${l}`].map((w) => g.linear(normed, w));
    // Per-head norm, then rotation, then heads in front of time.
    const turned = (y: Value, gain: string, n: number): Value => {
      const even = g.rms(g.reshape(y, [-1, dh]), gain);
      return g.rope(g.reshape(even, [-1, T, n * dh]), positions, cosT, sinT, minusSin);
    };
    const grouped = g.transpose(g.reshape(turned(q!, `qnorm_${l}`, H), [-1, T, H, dh]), [0, 2, 1, 3]);
    const keys = g.transpose(g.reshape(turned(k!, `knorm_${l}`, Hk), [-1, T, Hk, dh]), [0, 2, 1, 3]);
    const values = g.transpose(g.reshape(v!, [-1, T, Hk, dh]), [0, 2, 1, 3]);
    const out = attention(
      g,
      g.reshape(grouped, [-1, G, T, dh]),
      g.reshape(keys, [-1, T, dh]),
      g.reshape(values, [-1, T, dh]),
      blocks,
    );
    const merged = g.reshape(g.transpose(g.reshape(out, [-1, H, T, dh]), [0, 2, 1, 3]), [-1, H * dh]);
    // Behind the last attention no position reads another one: the rest is computed where it is scored.
    const kept = (y: Value): Value => (l === c.layers - 1 ? g.rows(y, scored) : y);
    x = g.linear(kept(merged), `o_${l}`, kept(x));
    const between = g.rms(x, `norm2_${l}`);
    const [gate, up] = [`gate_${l}`, `up_${l}`].map((w) => g.linear(between, w));
    x = g.linear(g.swiglu(gate!, up!), `down_${l}`, x);
  }
  return x;
}
