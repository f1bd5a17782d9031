/** The fallback without a native binary: the same graphs, in the same kind of worker, give the same numbers. */
import { expect, it } from 'vitest';
import type { Completion, Engine, LossOutput } from '../../src/engine.ts';
import { ADAM, furthest, openTiny, request, tokensOf } from './fixture.ts';

/** Prompts and completions that cross pages (64 tokens) and training rows that cross attention blocks. */
const requests = [5, 40, 62, 130].map((n, i) =>
  request(`k${i}`, tokensOf(`p${n}`, n), { temperature: 0.8, stop: [], maxTokens: 16 }),
);

async function work(engine: Engine): Promise<{ out: readonly Completion[]; trained: LossOutput[]; norms: number[] }> {
  const session = (await engine.policy(engine.base.policy)).open(requests.length);
  const out = await session.sample(
    requests,
    requests.map((_, i) => i),
  );
  const batch = requests.map((r, i) => {
    const tokens = [...r.prompt, ...out[i]!.tokens];
    return { tokens, weights: tokens.slice(1).map((_, t) => (t % 2 ? 0.01 : 0)) };
  });
  const client = await engine.train(engine.base);
  const trained: LossOutput[] = [];
  const norms: number[] = [];
  // AdamW, then Muon: the Newton-Schulz graph too.
  for (const settings of [{ ...ADAM, eps: 1e-3 }, { ...ADAM, muonRate: 0.01 }, ADAM]) {
    trained.push(await client.forwardBackward(batch, 'cross_entropy'));
    norms.push((await client.optimStep(settings)).gradNorm);
  }
  return { out, trained, norms };
}

it('samples, trains and steps as the native runtime does', async () => {
  const [native, wasm] = [await openTiny({ workers: 1 }), await openTiny({ workers: 1, prefer: 'wasm' })];
  expect(native.fingerprint).toContain('native');
  expect(wasm.fingerprint).toContain('wasm');
  const [a, b] = [await work(native), await work(wasm)];
  await native.close();
  await wasm.close();
  a.out.forEach((c, i) => {
    expect(b.out[i]!.tokens).toEqual(c.tokens);
    expect(furthest(b.out[i]!.logprobs, c.logprobs)).toBeLessThan(1e-4);
  });
  a.trained.forEach((x, step) => {
    expect(furthest(x.logprobs.flat(), b.trained[step]!.logprobs.flat())).toBeLessThan(1e-4);
    expect(Math.abs(a.norms[step]! / b.norms[step]! - 1)).toBeLessThan(1e-3);
  });
  expect(a.trained[2]!.loss).toBeLessThan(a.trained[0]!.loss);
});
