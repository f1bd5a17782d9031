/** Meters of what the engine works, in tokens. Steps may run side by side, so each counts what goes through its own view. */
import type { Engine, Policy, SamplingSession, Usage } from '../engine.ts';

export const NO_USAGE: Usage = { sampled: 0, prefilled: 0, trained: 0 };

export const addUsage = (a: Usage, b: Usage): Usage => ({
  sampled: a.sampled + b.sampled,
  prefilled: a.prefilled + b.prefilled,
  trained: a.trained + b.trained,
});

/** The same context, its policies with a meter; the function reads it. What is trained, the trainee tells. */
export function metered<C extends { readonly engine: Engine }>(context: C): readonly [C, () => Usage] {
  const { engine } = context;
  let total: Usage = NO_USAGE;
  const add = (sampled: number, prefilled: number): void => {
    total = addUsage(total, { sampled, prefilled, trained: 0 });
  };
  const view: Engine = {
    ...engine,
    async policy(id): Promise<Policy> {
      const policy = await engine.policy(id);
      return { id: policy.id, open: (size) => counted(policy.open(size), add) };
    },
  };
  return [{ ...context, engine: view }, () => total];
}

function counted(session: SamplingSession, add: (sampled: number, prefilled: number) => void): SamplingSession {
  let last = { sampled: 0, prefilled: 0 };
  return {
    async sample(requests, lane) {
      const completions = await session.sample(requests, lane);
      const now = session.usage?.() ?? {
        sampled: last.sampled + completions.reduce((sum, { tokens }) => sum + tokens.length, 0),
        prefilled: last.prefilled + requests.reduce((sum, { prompt }) => sum + prompt.length, 0),
      };
      add(now.sampled - last.sampled, now.prefilled - last.prefilled);
      last = now;
      return completions;
    },
    usage: () => last,
    close: () => session.close(),
  };
}
