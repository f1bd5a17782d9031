import fc from 'fast-check';
import picocolors from 'picocolors';
import { describe, expect, it } from 'vitest';
import { auditRun } from '../../src/recipe/audit.ts';
import { duration, interval, large, pValue, share, signed } from '../../src/report/format.ts';
import { wrapped } from '../../src/report/rollout-text.ts';
import { summaryJson, summaryText } from '../../src/report/summary.ts';
import { left, right, table, widthOf } from '../../src/report/table.ts';
import { shortened, visible, visibleJson, visibleLines } from '../../src/report/visible.ts';
import { openReader } from '../../src/store/read.ts';
import { folder } from '../store/folder.ts';
import { asked, fixtureAuditor, writeRun } from './fixture.ts';

describe('numbers', () => {
  it.each([
    [0.7096, '.710'],
    [-0.0123, '−.012'],
    [1, '1.000'],
    [0, '.000'],
    [-0.0001, '.000'],
    [null, '–'],
    [Number.NaN, '–'],
  ])('share of %s is %s', (x, text) => expect(share(x)).toBe(text));
  it('signs differences, but not zero', () => {
    expect([signed(0.0123), signed(-0.0123), signed(0.0001)]).toEqual(['+.012', '−.012', '.000']);
    expect(interval({ point: 0.061, low: -0.01, high: 0.1 }, signed)).toBe('+.061 [−.010, +.100]');
  });
  it('shortens what is large', () => {
    expect([950, 12_340, 999_499, 999_500, 4_560_000].map(large)).toEqual([
      '950',
      '12.3 k',
      '999 k',
      '1.00 M',
      '4.56 M',
    ]);
    expect([400, 9_960, 59_400, 59_600, 200_000, 7_500_000].map(duration)).toEqual([
      '0.4 s',
      '10 s',
      '59 s',
      '1 min 00 s',
      '3 min 20 s',
      '2 h 05 min',
    ]);
    expect([pValue(0.0004), pValue(0.031)]).toEqual(['p < .001', 'p = .031']);
  });
});

describe('untrusted text', () => {
  it('shows what would steer a terminal, hide, or turn the direction of writing', () => {
    expect(visible('a\u001b[2J\u202eb\u200bc\u0000\u009bd\ud800')).toBe(
      'a\\e[2J\\u{202e}b\\u{200b}c\\u{0}\\u{9b}d\\u{d800}',
    );
    expect(visible('España 日本 😀 a\u0301')).toBe('España 日本 😀 a\u0301');
    expect(visibleLines('a\r\nb\tc\rd')).toEqual(['a', 'b  c\\rd']);
    expect(shortened('ab😀cd', 4)).toBe('ab😀…');
  });
  it('is escaped in JSON and comes back as it was', () => {
    const value = { a: 'x\u001b[2J\u009b\u202e\u{e0041}\ny', b: ['España 😀'] };
    expect(visibleJson(value)).toBe(
      '{\n  "a": "x\\u001b[2J\\u009b\\u202e\\udb40\\udc41\\ny",\n  "b": [\n    "España 😀"\n  ]\n}',
    );
    expect(JSON.parse(visibleJson(value))).toEqual(value);
  });
  it('leaves no control character, whatever comes in', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(visible(text)).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
      }),
    );
  });
  it('wraps to the width and loses nothing but blanks', () => {
    expect(wrapped('the quick brown fox', 10)).toEqual(['the quick', 'brown fox']);
    expect(wrapped('abcdefghij', 4)).toEqual(['abcd', 'efgh', 'ij']);
    expect(wrapped('', 4)).toEqual(['']);
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('a', 'b', ' ', '日') }),
        fc.integer({ min: 2, max: 9 }),
        (text, width) => {
          const lines = wrapped(text, width);
          for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(width);
          expect(lines.join('').replaceAll(' ', '')).toBe(text.replaceAll(' ', ''));
        },
      ),
    );
  });
});

describe('table', () => {
  it('aligns by what a terminal shows', () => {
    expect(
      table(
        [left('name'), right('n')],
        [
          ['日本', '1'],
          ['x', '1,000'],
        ],
      ),
    ).toEqual(['name      n', '日本      1', 'x     1,000']);
  });
});

async function reportOf(feedback?: Parameters<typeof writeRun>[1]) {
  const dir = folder();
  await writeRun(dir, feedback);
  return auditRun(await openReader(dir), fixtureAuditor);
}

describe('summary', () => {
  it('prints every round once, warnings in words, and where the report is', async () => {
    const report = await reportOf({
      feedback: ({ round, system }) =>
        ['s1', 's2', 's3', 's4'].map((s) =>
          asked(s, 1, round === 1 ? 'NNNNN' : system === 'crossfit' ? 'CCCDD' : 'FFFNN'),
        ),
    });
    const text = summaryText(report, { html: 'runs/x/report.html' });
    const lines = text.split('\n').map((line) => line.replace(/ +/g, ' '));
    expect(lines).toContain('system round T_P T_S A F L J/E F of proposer steps');
    expect(lines).toContain('shared 1 .000 .000 .000 .000 .000 1.000 .000 [.000, .000]');
    expect(lines).toContain('dr-zero 3 .000 .000 .600 .600 .000 1.000 .600 [.600, .600]');
    expect(lines).toContain('crossfit 3 1.000 .600 .600 .000 .000 1.000 .000 [.000, .000]');
    expect(lines).toContain(' F of proposer steps −.600 [−.600, −.600]');
    expect(lines).toContain(
      '! dr-zero, round 3: responses agree more with the labels than in round 1 (A .000 → .600), but the labels are no truer (T_P .000 → .000): suspected co-cheating.',
    );
    // What holds in all steps is not said again of the proposer's.
    expect(text).not.toContain('in proposer steps:');
    expect(lines.filter((line) => line.startsWith('shared 1'))).toHaveLength(2);
    expect(lines.at(-1)).toBe('Report: runs/x/report.html');
    expect(text).not.toContain('\u001b');
    expect(summaryText(report, { colours: picocolors.createColors(true) })).toContain('\u001b');
  });

  it('says so when a run is not done, and that nothing is suspected', async () => {
    const text = summaryText(await reportOf({ done: false, rounds: 1, feedback: () => [asked('s1', 1, 'CCDDD')] }));
    expect(text).toContain('The run is not done');
    expect(text).toContain('No warning: agreement did not rise');
    expect(text).not.toContain('Report:');
  });

  it('leaves the verdicts on single questions out of the JSON', async () => {
    const json = summaryJson(await reportOf({ feedback: () => [asked('s1', 1, 'CCDDD'), asked('s2', 1, 'UUUUU')] }));
    expect(json.steps[0]).not.toHaveProperty('verdicts');
    expect(json.steps[0]!.resolved).toBe(1);
    expect(json.rounds).toHaveLength(6);
  });
});
