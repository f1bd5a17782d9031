import { describe, expect, it } from 'vitest';
import { openBusyClock } from '../src/util/busy.ts';

/** A call that ends when it is told to. */
function held() {
  let end!: () => void;
  const promise = new Promise<void>((resolve) => {
    end = resolve;
  });
  return { promise, end };
}

describe('a busy clock', () => {
  it('counts the time in which anything is under way, once', async () => {
    let time = 0;
    const clock = openBusyClock(() => time);
    const [a, b, c] = [held(), held(), held()];
    time = 10;
    const first = clock.track(() => a.promise);
    time = 15;
    const second = clock.track(() => b.promise);
    expect(clock.total()).toBe(5);
    time = 20;
    a.end();
    await first;
    time = 30;
    b.end();
    await second;
    time = 90;
    expect(clock.total()).toBe(20);
    const third = clock.track(() => c.promise.then(() => Promise.reject(new Error('lost'))));
    time = 97;
    c.end();
    await expect(third).rejects.toThrow('lost');
    time = 100;
    expect(clock.total()).toBe(27);
  });
});
