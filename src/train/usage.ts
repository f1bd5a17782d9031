import type { Engine, Usage } from '../engine.ts';

export const NO_USAGE: Usage = { sampled: 0, prefilled: 0, trained: 0 };

export const addUsage = (a: Usage, b: Usage): Usage => ({
  sampled: a.sampled + b.sampled,
  prefilled: a.prefilled + b.prefilled,
  trained: a.trained + b.trained,
});

/** Tokens that the engine works from now on; the returned function reads the meter. */
export function usageSince(engine: Engine): () => Usage {
  const start = engine.usage();
  return () => {
    const now = engine.usage();
    return {
      sampled: now.sampled - start.sampled,
      prefilled: now.prefilled - start.prefilled,
      trained: now.trained - start.trained,
    };
  };
}
