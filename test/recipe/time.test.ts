import { describe, expect, it } from 'vitest';
import { idleShare, timeOf } from '../../src/recipe/time.ts';

describe('time of lines', () => {
  it('is the time between lines, so that what ran side by side counts once', () => {
    const lines = [
      { ms: 100, lap: { wall: 100, busy: 90 } },
      // Ran beside the line before, which was written 20 ms earlier.
      { ms: 110, lap: { wall: 20, busy: 0 } },
    ];
    const time = timeOf(lines);
    expect(time).toEqual({ ms: 120, busy: 90 });
    expect(idleShare(time)).toBeCloseTo(0.25);
  });

  it('is the duration of each, and no idle time, where an older journal says no more', () => {
    const time = timeOf([
      { ms: 100, lap: null },
      { ms: 50, lap: { wall: 60, busy: 60 } },
    ]);
    expect(time).toEqual({ ms: 160, busy: null });
    expect(idleShare(time)).toBeNull();
    expect(idleShare(timeOf([]))).toBeNull();
  });
});
