/** The client on SkyRL: every probe that an engine must pass, and the log-probabilities of the local engine. */
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { memoryBlobs } from '../../src/cli/memory-blobs.ts';
import { askFor, sampled } from '../../src/engine/conformance/probe.ts';
import { PROBES, runSuite } from '../../src/engine/conformance/suite.ts';
import type { Datum, Engine } from '../../src/engine.ts';
import { openPolicyEngine } from '../../src/recipe/policies.ts';
import { rng } from '../../src/util/rng.ts';
import { engineOf } from './engine.ts';
import { POLICY } from './setup.ts';

const skyrl = inject('skyrl');
/** Words that the policy reads. */
const TEXT =
  'hometown of Mara Voss ? rival of Tobin Hale ? mentor of Elska Brandt ? founder of Silent Harbor ? chief of Brask Mills ?';
/** Of the same tokens, in nats; both compute in float32. */
const AGREE = 1e-3;

describe.skipIf('missing' in skyrl)('SkyRL as an engine', () => {
  let remote: Engine;
  let local: Engine;
  beforeAll(async () => {
    if ('missing' in skyrl) return;
    remote = await engineOf(skyrl);
    local = await openPolicyEngine(POLICY, memoryBlobs(), 1);
  });
  afterAll(async () => {
    await remote?.close();
    await local?.close();
  });

  it('passes the conformance suite', async () => {
    const findings = await runSuite(remote, {
      text: TEXT,
      told: ({ name, state, found }) => console.log(`${state}: ${name} (${found})`),
    });
    expect(findings.filter(({ state }) => state !== 'ok')).toEqual([]);
    expect(findings).toHaveLength(PROBES.length);
  });

  it('gives the tokens that the local engine samples the same log-probabilities', async () => {
    const prompts = TEXT.split(' ? ').map((question) => [
      local.tokenizer.tag('<solve>'),
      ...local.tokenizer.encode([question]),
    ]);
    const completions = await sampled(
      await local.policy(local.base.policy),
      prompts.map((prompt, i) => askFor(prompt, { key: `agree/${i}`, maxTokens: 24 })),
    );
    const written = prompts.map((prompt, i) => [...prompt, ...completions[i]!.tokens]);
    const gap = await difference(written.map((tokens) => ({ tokens })));
    console.log(`sampled sequences: log-probabilities within ${gap}`);
    expect(gap).toBeLessThan(AGREE);
  });

  it('gives any tokens the same log-probabilities, up to the longest sequence', async () => {
    const draw = rng('skyrl', 'tokens');
    const lengths = [2, 17, 60, 150, 320];
    const data = lengths.map((length) => ({
      tokens: Array.from({ length }, () => Math.floor(draw.uniform() * local.tokenizer.vocabSize)),
    }));
    const gap = await difference(data);
    console.log(`random sequences: log-probabilities within ${gap}`);
    expect(gap).toBeLessThan(AGREE);
  });

  /** Largest difference of a log-probability between the two trainers at the base weights. */
  async function difference(data: readonly Datum[]): Promise<number> {
    const scores = async (engine: Engine): Promise<readonly (readonly number[])[]> => {
      const client = await engine.train(engine.base);
      try {
        return (await client.forward(data, 'cross_entropy', { everywhere: true })).logprobs;
      } finally {
        await client.close();
      }
    };
    const [ours, theirs] = [await scores(local), await scores(remote)];
    return Math.max(...ours.flatMap((row, i) => row.map((p, t) => Math.abs(p - theirs[i]![t]!))));
  }
});
