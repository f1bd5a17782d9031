/**
 * An engine whose replies are a function of the prompt: for tests of everything above the engine contract. It computes
 * no losses (they are 0) and training changes nothing but the policy's name, which the script is told.
 */
import type {
  Completion,
  Datum,
  Engine,
  LossOutput,
  Policy,
  SampleRequest,
  StateRef,
  Tokenizer,
  TrainingClient,
} from '../engine.ts';
import { codePointTokenizer } from '../text/code-points.ts';
import { UserError } from '../util/error.ts';

/** `prompt` is decoded; control tokens in the returned text are sampled as such. The turn ends with the text. */
export type Script = (prompt: string, request: SampleRequest, policy: string) => string;

export { codePointTokenizer as scriptedTokenizer };

export function scriptedPolicy(id: string, tokenizer: Tokenizer, tags: readonly string[], script: Script): Policy {
  const complete = (request: SampleRequest): Completion => {
    const said = encodeTagged(script(tokenizer.decode(request.prompt), request, id), tokenizer, tags);
    const stop = said.findIndex((token) => request.stop.includes(token));
    const whole = stop < 0 ? said : said.slice(0, stop + 1);
    const tokens = whole.slice(0, request.maxTokens);
    return {
      tokens,
      logprobs: tokens.map((token) => -(1 + (token % 7)) / 8),
      finish: tokens.length < whole.length ? 'length' : 'stop',
    };
  };
  return { id, open: () => ({ sample: async (requests) => requests.map(complete), close: async () => {} }) };
}

function encodeTagged(text: string, tokenizer: Tokenizer, tags: readonly string[]): number[] {
  const pieces = [];
  let from = 0;
  for (let at = 0; at < text.length; at++) {
    const name = tags.find((t) => text.startsWith(t, at));
    if (name === undefined) continue;
    pieces.push(text.slice(from, at), { tag: name });
    from = at + name.length;
    at = from - 1;
  }
  return tokenizer.encode([...pieces, text.slice(from)]);
}

export interface ScriptedSettings {
  readonly script: Script;
  /** Control tokens of the vocabulary. */
  readonly tags: readonly string[];
  readonly contextLength?: number;
}

/** Policies are named by their training: `base`, then `base+1`, `base+2` for every optimizer step behind them. */
export function scriptedEngine({ script, tags, contextLength = 100_000 }: ScriptedSettings): Engine {
  const tokenizer = codePointTokenizer(tags);
  const usage = { sampled: 0, prefilled: 0, trained: 0 };
  const counted: Script = (prompt, request, policy) => {
    usage.prefilled += request.prompt.length;
    const said = script(prompt, request, policy);
    usage.sampled += said.length;
    return said;
  };
  const policyOf = (id: string): Policy => scriptedPolicy(id, tokenizer, tags, counted);
  return {
    fingerprint: 'scripted',
    tokenizer,
    base: { policy: 'base', optimizer: null },
    parameters: null,
    contextLength,
    policy: async (id) => policyOf(id),
    train: async (state) => scriptedTraining(state, policyOf, (tokens) => (usage.trained += tokens)),
    usage: () => ({ ...usage }),
    close: async () => {},
  };
}

function scriptedTraining(
  initial: StateRef,
  policyOf: (id: string) => Policy,
  count: (tokens: number) => void,
): TrainingClient {
  let steps = 0;
  let origin = initial;
  const parse = (id: string): [string, number] => {
    const [name, n] = id.split('+');
    return [name!, Number(n ?? 0)];
  };
  const current = (): string => {
    const [name, before] = parse(origin.policy);
    return before + steps === 0 ? name : `${name}+${before + steps}`;
  };
  const forward = async (batch: readonly Datum[]): Promise<LossOutput> => {
    for (const datum of batch) {
      if (datum.tokens.length < 2)
        throw new UserError(`a datum has ${datum.tokens.length} tokens, expected at least 2`);
      count(datum.tokens.length);
    }
    return { loss: 0, logprobs: batch.map((datum) => datum.tokens.slice(1).map(() => 0)) };
  };
  return {
    forwardBackward: forward,
    forward,
    async optimStep() {
      steps++;
      return { gradNorm: 0 };
    },
    snapshot: async () => policyOf(current()),
    save: async () => ({ policy: current(), optimizer: `adam of ${current()}` }),
    async load(state) {
      origin = state;
      steps = 0;
    },
    close: async () => {},
  };
}
