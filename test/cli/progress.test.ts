import { describe, expect, it, vi } from 'vitest';
import { advance, duration, secondsLeft, startMeter, tokensPerSecond } from '../../src/cli/meter.ts';
import { cut, openProgress, progressText } from '../../src/cli/progress.ts';
import type { Progress } from '../../src/recipe/progress.ts';
import { recorded } from './terminal.ts';

const progress = (over: Partial<Progress> = {}): Progress => ({
  key: 'crossfit/round2/proposer/004',
  system: 'crossfit',
  round: 2,
  phase: 'proposer',
  step: 4,
  steps: 16,
  done: 100,
  total: 400,
  reward: 0.624,
  agreement: 0.709,
  tokens: 5000,
  ...over,
});

describe('meter', () => {
  it('tells speed and time left from what was computed', () => {
    let meter = startMeter(10);
    expect([tokensPerSecond(meter), secondsLeft(meter, 400)]).toEqual([null, null]);
    meter = advance(meter, { at: 15, done: 50, tokens: 6000 });
    meter = advance(meter, { at: 20, done: 100, tokens: 12_000 });
    expect(tokensPerSecond(meter)).toBe(1200);
    // 100 units in 10 s, 300 to go.
    expect(secondsLeft(meter, 400)).toBe(30);
  });

  it('leaves out what a journal gives back at once', () => {
    let meter = startMeter(0);
    meter = advance(meter, { at: 0.01, done: 200, tokens: 0 });
    meter = advance(meter, { at: 5, done: 300, tokens: 0 });
    expect(secondsLeft(meter, 400)).toBeNull();
    meter = advance(meter, { at: 15, done: 350, tokens: 1000 });
    expect([tokensPerSecond(meter), secondsLeft(meter, 400)]).toEqual([100, 10]);
  });

  it('measures speed over the last half minute, time left over all', () => {
    let meter = startMeter(0);
    meter = advance(meter, { at: 100, done: 10, tokens: 100_000 });
    meter = advance(meter, { at: 120, done: 20, tokens: 102_000 });
    expect(tokensPerSecond(meter)).toBe(100);
    expect(secondsLeft(meter, 40)).toBe(120);
  });

  it.each([
    [0, '0s'],
    [59.4, '59s'],
    [59.6, '1m00s'],
    [200, '3m20s'],
    [7500, '2h05m'],
    [-3, '0s'],
  ])('%d seconds are %s', (seconds, text) => {
    expect(duration(seconds)).toBe(text);
  });
});

describe('progress', () => {
  it('is one line of round, phase, step, reward, A, speed and time left', () => {
    let meter = startMeter(0);
    meter = advance(meter, { at: 1, done: 100, tokens: 12_345 });
    expect(progressText(progress(), 3, meter)).toBe(
      'crossfit  round 2/3  proposer 5/16  reward 0.62  A 0.71  12.3k tok/s  3s left',
    );
    expect(progressText(progress(), 3, meter, 2)).toMatch(/ {2}1s left$/);
    expect(progressText(progress({ reward: null, agreement: null, phase: 'write' }), 3, startMeter(0))).toBe(
      'crossfit  round 2/3  write 5/16',
    );
  });

  it('never reaches the end of a line', () => {
    expect(cut('abc', 4)).toBe('abc');
    expect(cut('abcd', 4)).toBe('ab…');
    expect(cut('abcd', 1)).toBe('…');
  });

  it('is a line a phase where there is no terminal, and one for what takes long', () => {
    vi.useFakeTimers();
    try {
      const { terminal, err, out } = recorded();
      const view = openProgress(terminal, 3, false, () => 0);
      view.note('making the world');
      vi.advanceTimersByTime(1900);
      view.note('reading docs');
      vi.advanceTimersByTime(2100);
      // The first round comes from the journal: no tokens.
      for (let step = 0; step < 16; step++) view.report(progress({ round: 1, step, tokens: 0 }));
      for (let step = 0; step < 16; step++) view.report(progress({ step, tokens: 100 + step }));
      view.note('auditing');
      view.close();
      vi.advanceTimersByTime(5000);
      expect(err()).toBe('reading docs\ncrossfit  round 2/3  proposer 16/16  reward 0.62  A 0.71\n');
      expect(out()).toBe('');
    } finally {
      vi.useRealTimers();
    }
  });

  it('is one line written over on a terminal, wiped at the end', () => {
    vi.useFakeTimers();
    try {
      const { terminal, err } = recorded(true, {}, 40);
      const view = openProgress(terminal, 3, false, () => 0);
      view.report(progress());
      expect(err()).toBe('\r| crossfit  round 2/3  proposer 5/16  …\u001b[K');
      vi.advanceTimersByTime(260);
      expect(err()).toContain('\r/ crossfit');
      view.say('kept');
      expect(err()).toContain('\r\u001b[Kkept\n');
      view.close();
      expect(err().endsWith('\r\u001b[K')).toBe(true);
      expect(err().split('\n')).toHaveLength(2);
    } finally {
      vi.useRealTimers();
    }
  });

  it('says nothing but warnings when it is off', () => {
    const { terminal, err } = recorded(true);
    const view = openProgress(terminal, 3, true);
    view.note('a');
    view.report(progress());
    view.say('b');
    view.close();
    expect(err()).toBe('');
    view.warn('c');
    expect(err()).toBe('c\n');
  });
});

describe('colour', () => {
  it.each([
    [true, {}, true],
    [false, {}, false],
    [false, { FORCE_COLOR: '1', CI: '1' }, false],
    [true, { NO_COLOR: '1' }, false],
    [true, { NO_COLOR: '' }, true],
    [true, { TERM: 'dumb' }, false],
  ])('terminal %s with %j: %s', (isTTY, env, coloured) => {
    const { terminal } = recorded(isTTY, env as Record<string, string>);
    expect(terminal.colours.out.red('x') !== 'x').toBe(coloured);
  });
});
