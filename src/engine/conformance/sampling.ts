/** Probes of sampling. */
import type { Completion } from '../../engine.ts';
import { InfraError, UserError } from '../../util/error.ts';
import { askFor, basePolicy, digits, equal, failed, furthest, GREEDY, type Probe, sampled, verdict } from './probe.ts';

/** Log-probabilities of one token sequence, computed in other batches: so close. */
export const CLOSE = 2e-3;

const lengths = (completions: readonly Completion[]): string => completions.map((c) => c.tokens.length).join(', ');

export const SAMPLING: readonly Probe[] = [
  {
    name: 'token ids',
    quick: true,
    needs: 'sampling',
    async run(subject) {
      const { tokenizer } = subject.engine;
      const ids = tokenizer.encode([subject.text]);
      // A small vocabulary lacks words; what it has comes back.
      const known = tokenizer.decode(ids);
      const again = tokenizer.encode([known]);
      const stable = equal(again, ids) || tokenizer.decode(again) === known;
      const counted = tokenizer.ends(ids).at(-1) === known.length;
      const [one] = await sampled(await basePolicy(subject), [askFor(subject.prompts[0]!)]);
      const alien = one!.tokens.find((id) => !(Number.isInteger(id) && id >= 0 && id < tokenizer.vocabSize));
      return verdict(
        stable && counted && alien === undefined && one!.tokens.length > 0,
        alien === undefined
          ? `${ids.length} ids of a text, ${known === subject.text ? 'which comes back' : 'some of whose words it lacks'}; ${one!.tokens.length} sampled`
          : `token ${alien}`,
        `text to ids and back is stable; sampled ids below ${tokenizer.vocabSize}`,
      );
    },
  },
  {
    name: 'stop tokens',
    quick: true,
    needs: 'sampling',
    async run(subject) {
      const policy = await basePolicy(subject);
      const prompt = subject.prompts[0]!;
      const [free] = await sampled(policy, [askFor(prompt, GREEDY)]);
      const stop = free!.tokens[Math.min(2, free!.tokens.length - 1)]!;
      const end = free!.tokens.indexOf(stop) + 1;
      const [cut] = await sampled(policy, [askFor(prompt, { ...GREEDY, stop: [stop] })]);
      return verdict(
        equal(cut!.tokens, free!.tokens.slice(0, end)) && cut!.finish === 'stop',
        `${cut!.tokens.length} tokens, ${cut!.finish}${cut!.tokens.at(-1) === stop ? ', the stop token last' : ''}`,
        `${end} tokens, stop, the stop token last`,
      );
    },
  },
  {
    name: 'log-probabilities',
    quick: true,
    needs: 'sampling',
    async run(subject) {
      const [one] = await sampled(await basePolicy(subject), [askFor(subject.prompts[1]!)]);
      const { tokens, logprobs } = one!;
      const good = logprobs.every((x) => Number.isFinite(x) && x <= 1e-6) && logprobs.some((x) => x !== 0);
      return verdict(
        good && logprobs.length === tokens.length,
        `${logprobs.length} for ${tokens.length} tokens, from ${digits(Math.min(...logprobs))} to ${digits(Math.max(...logprobs))}`,
        'one a token, finite, at most 0, not all 0',
      );
    },
  },
  {
    name: 'seeds',
    quick: true,
    needs: 'sampling',
    async run(subject) {
      const policy = await basePolicy(subject);
      const asked = ['a', 'b', 'c', 'd'].map((key) => askFor(subject.prompts[0]!, { key }));
      const [first, second] = [await sampled(policy, asked), await sampled(policy, asked)];
      const same = first.filter((c, i) => equal(c.tokens, second[i]!.tokens)).length;
      const different = new Set(first.map((c) => c.tokens.join(' '))).size;
      return verdict(
        same === asked.length && different > 1,
        `${same} of ${asked.length} repeat themselves, ${different} different`,
        'a key repeats itself, keys differ from each other',
      );
    },
  },
  {
    name: 'n samples',
    quick: true,
    needs: 'sampling',
    async run(subject) {
      const asked = Array.from({ length: 6 }, (_, i) =>
        askFor(subject.prompts[i % 2]!, { key: `n/${i}`, maxTokens: i + 1 }),
      );
      const all = await sampled(await basePolicy(subject), asked);
      return verdict(
        all.length === asked.length && all.every((c, i) => c.tokens.length <= i + 1 && c.tokens.length > 0),
        `${all.length} completions of ${lengths(all)} tokens`,
        'as many as asked for, in their order, of at most 1, 2, … 6 tokens',
      );
    },
  },
  {
    name: 'max tokens',
    quick: true,
    needs: 'sampling',
    async run(subject) {
      const asked = [1, 5].map((maxTokens) => askFor(subject.prompts[2]!, { ...GREEDY, maxTokens }));
      const [one, five] = await sampled(await basePolicy(subject), asked);
      // A server that ends turns by itself may stop earlier, and says so.
      const whole = five!.finish === 'stop' || five!.tokens.length === 5;
      return verdict(
        one!.tokens.length === 1 && five!.tokens.length <= 5 && whole,
        `${lengths([one!, five!])} tokens, ${five!.finish}`,
        '1 and 5 tokens',
      );
    },
  },
  {
    name: 'top-k',
    quick: true,
    needs: 'sampling',
    async run(subject) {
      const prompt = subject.prompts[0]!;
      const [greedy, first] = await sampled(await basePolicy(subject), [
        askFor(prompt, { ...GREEDY, maxTokens: 6 }),
        askFor(prompt, { topK: 1, maxTokens: 6 }),
      ]);
      return verdict(
        equal(greedy!.tokens, first!.tokens),
        equal(greedy!.tokens, first!.tokens) ? 'the greedy tokens' : 'other tokens',
        'top-k 1 gives the greedy tokens',
      );
    },
  },
  {
    name: 'unknown policies',
    quick: true,
    needs: 'sampling',
    async run(subject) {
      const expected = 'an error: what is not known is never sampled as something else';
      try {
        const policy = await subject.engine.policy('no-such-policy');
        await sampled(policy, [askFor(subject.prompts[0]!, { maxTokens: 1 })]);
      } catch (error) {
        if (error instanceof UserError || error instanceof InfraError) return verdict(true, 'refused', expected);
        throw error;
      }
      return failed('sampled', expected);
    },
  },
  {
    name: 'three turns',
    quick: true,
    needs: 'sampling',
    async run(subject) {
      const policy = await basePolicy(subject);
      const session = policy.open(1);
      const inside: Completion[] = [];
      const prompts: (readonly number[])[] = [];
      let prompt: readonly number[] = subject.prompts[0]!;
      try {
        for (let turn = 0; turn < 3; turn++) {
          prompts.push(prompt);
          const [reply] = await session.sample([askFor(prompt, { ...GREEDY, maxTokens: 6 })], [0]);
          inside.push(reply!);
          prompt = [...prompt, ...reply!.tokens, ...subject.prompts[turn + 1]!.slice(0, 4)];
        }
      } finally {
        await session.close();
      }
      const anew: Completion[] = [];
      for (const p of prompts) anew.push(...(await sampled(policy, [askFor(p, { ...GREEDY, maxTokens: 6 })])));
      const same = inside.filter((c, i) => equal(c.tokens, anew[i]!.tokens)).length;
      const gap = Math.max(...inside.map((c, i) => furthest(c.logprobs, anew[i]!.logprobs)));
      return verdict(
        same === 3 && gap < CLOSE,
        `${same} of 3 turns the same, log-probabilities within ${digits(gap)}`,
        `a conversation that grows by tokens is sampled as if read anew, within ${CLOSE}`,
      );
    },
  },
];
