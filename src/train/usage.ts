import type { Engine, Usage } from '../engine.ts';

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
