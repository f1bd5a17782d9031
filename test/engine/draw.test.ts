import { describe, expect, it } from 'vitest';
import { draw } from '../../src/engine/local/draw.ts';

const probs = Float32Array.of(0.1, 0.4, 0.2, 0.3);
/** The tokens of a fine grid of draws. */
const reached = (limits: { topP: number; topK?: number }): number[] => {
  const tokens = Array.from({ length: 100 }, (_, i) => draw(probs, 0, 4, limits, i / 100));
  return [...new Set(tokens)].sort();
};
const share = (limits: { topP: number; topK?: number }, token: number): number =>
  Array.from({ length: 1000 }, (_, i) => draw(probs, 0, 4, limits, (i + 0.5) / 1000)).filter((t) => t === token).length;

describe('drawing a token', () => {
  it.each([
    [{ topP: 1 }, [0, 1, 2, 3]],
    [{ topP: 0.7 }, [1, 3]],
    [{ topP: 1, topK: 1 }, [1]],
    [{ topP: 1, topK: 3 }, [1, 2, 3]],
    // Of the mass of three (0.9), 0.4 + 0.3 is more than 0.75 of it.
    [{ topP: 0.75, topK: 3 }, [1, 3]],
    [{ topP: 1, topK: 9 }, [0, 1, 2, 3]],
  ])('%j reaches %j', (limits, tokens) => {
    expect(reached(limits)).toEqual(tokens);
  });

  it('keeps proportions among what is left', () => {
    expect(share({ topP: 1 }, 1)).toBe(400);
    expect(Math.abs(share({ topP: 1, topK: 2 }, 1) - (1000 * 4) / 7)).toBeLessThan(1);
  });
});
