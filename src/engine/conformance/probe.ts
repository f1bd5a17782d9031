/** A probe of an engine: what was seen, what was expected, and whether they agree. Nothing here knows a test runner. */
import type { Completion, Engine, Policy, SampleRequest, StateRef, TrainingClient } from '../../engine.ts';

export interface Verdict {
  readonly state: 'ok' | 'skipped' | 'failed';
  readonly found: string;
  readonly expected: string;
}

export interface Finding extends Verdict {
  readonly name: string;
}

export interface Subject {
  readonly engine: Engine;
  /** Token ids that the model reads; at least four, of about ten tokens or more. */
  readonly prompts: readonly (readonly number[])[];
  /** Text whose ids are to come back as it is. */
  readonly text: string;
  /** Null where the engine only samples: why. */
  readonly noTraining: string | null;
}

export interface Probe {
  readonly name: string;
  /** Part of what `doctor` runs: seconds on any engine. */
  readonly quick: boolean;
  readonly needs: 'sampling' | 'training';
  run(subject: Subject): Promise<Verdict>;
}

export const ok = (found: string, expected: string): Verdict => ({ state: 'ok', found, expected });
export const failed = (found: string, expected: string): Verdict => ({ state: 'failed', found, expected });
export const verdict = (good: boolean, found: string, expected: string): Verdict =>
  good ? ok(found, expected) : failed(found, expected);

export const askFor = (prompt: readonly number[], over: Partial<SampleRequest> = {}): SampleRequest => ({
  prompt,
  maxTokens: 12,
  temperature: 1,
  topP: 1,
  stop: [],
  key: 'probe',
  ...over,
});

export const GREEDY = { temperature: 0 } as const;

export async function sampled(policy: Policy, requests: readonly SampleRequest[]): Promise<readonly Completion[]> {
  const session = policy.open(requests.length);
  try {
    return await session.sample(
      requests,
      requests.map((_, i) => i),
    );
  } finally {
    await session.close();
  }
}

export const basePolicy = ({ engine }: Subject): Promise<Policy> => engine.policy(engine.base.policy);

/** Runs with clients that are closed whatever happens. */
export async function training<T>(
  { engine }: Subject,
  work: (open: (state?: StateRef) => Promise<TrainingClient>) => Promise<T>,
): Promise<T> {
  const clients: TrainingClient[] = [];
  try {
    return await work(async (state = engine.base) => {
      const client = await engine.train(state);
      clients.push(client);
      return client;
    });
  } finally {
    for (const client of clients) await client.close();
  }
}

export const furthest = (a: readonly number[], b: readonly number[]): number =>
  Math.max(0, ...a.map((x, i) => Math.abs(x - (b[i] ?? Number.NaN))));

export const equal = (a: readonly number[], b: readonly number[]): boolean =>
  a.length === b.length && a.every((x, i) => x === b[i]);

/** For messages: a few digits. */
export const digits = (x: number): string => (x === 0 ? '0' : Number(x.toPrecision(3)).toString());
