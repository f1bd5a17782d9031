/** The pieces that every HTTP client of ours shares: waits, addresses, abandoned requests. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Interrupted, UserError } from '../../src/util/error.ts';
import { checkUrl, openHttp, plainUrl, retryAfterMs } from '../../src/util/http.ts';
import { RETRY, retrying, waitBefore } from '../../src/util/retry.ts';
import { fakeServer } from './wire.ts';

const NOW = Date.parse('2026-01-01T00:00:00Z');

describe('waiting', () => {
  it.each([
    ['3', 3000],
    ['0.5', 500],
    ['-5', 0],
    ['Thu, 01 Jan 2026 00:00:10 GMT', 10_000],
    ['Wed, 31 Dec 2025 00:00:00 GMT', 0],
    ['soon', null],
    [' ', null],
    ['Infinity', null],
    [undefined, null],
  ])('Retry-After %j is %j ms', (value, ms) => {
    expect(retryAfterMs(value, NOW)).toBe(ms);
  });

  it('doubles, has a jitter of ½ to 1 that the key decides, and ends', () => {
    fc.assert(
      fc.property(fc.string(), fc.integer({ min: 0, max: 2 }), (key, index) => {
        const wait = waitBefore(index, { afterMs: null }, key, RETRY)!;
        const full = [500, 1000, 2000][index]!;
        expect(wait).toBeGreaterThanOrEqual(full / 2);
        expect(wait).toBeLessThanOrEqual(full);
        expect(waitBefore(index, { afterMs: null }, key, RETRY)).toBe(wait);
      }),
    );
    expect(waitBefore(3, { afterMs: null }, 'k', RETRY)).toBeNull();
    expect(waitBefore(0, { afterMs: 30_000 }, 'k', RETRY)).toBe(30_000);
    expect(waitBefore(0, { afterMs: 30_001 }, 'k', RETRY)).toBeNull();
    const waits = new Set(['a', 'b', 'c'].map((key) => waitBefore(0, { afterMs: null }, key, RETRY)));
    expect(waits.size).toBe(3);
  });

  it('is given up when the signal is aborted', async () => {
    const stop = new AbortController();
    const options = { retry: RETRY, key: 'k', again: () => ({ afterMs: 20_000 }), signal: stop.signal };
    const work = retrying(options, async () => {
      throw new Error('busy');
    });
    stop.abort(new Interrupted('stopped'));
    await expect(work).rejects.toThrow(new Interrupted('stopped'));
  });
});

describe('requests', () => {
  it('one that is abandoned is no outage', async () => {
    const server = await fakeServer(() => {});
    const http = openHttp();
    const stop = new AbortController();
    const sent = http.send({ method: 'POST', url: server.url, json: {}, signal: stop.signal });
    stop.abort(new Interrupted('stopped'));
    await expect(sent).rejects.toThrow(new Interrupted('stopped'));
    await server.close();
    await http.close();
  });

  it('addresses are checked, and shown without what may be secret', () => {
    expect(checkUrl('https://host:1/v1?key=x', '--url').port).toBe('1');
    expect(plainUrl('https://host:1/v1?key=x')).toBe('https://host:1/v1');
    expect(() => checkUrl('host:8000', '--url')).toThrow(
      new UserError('--url is "host:8000"; expected an address like http://127.0.0.1:8000'),
    );
    const error = (() => {
      try {
        return checkUrl('http://me:secret@host', '--url');
      } catch (e) {
        return e as Error;
      }
    })() as Error;
    expect(error).toBeInstanceOf(UserError);
    expect(error.message).not.toContain('secret');
  });
});
