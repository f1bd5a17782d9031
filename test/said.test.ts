/** What is shown of the bodies of servers: one short line, whatever they hold. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { said } from '../src/util/said.ts';

describe('said', () => {
  it.each([
    ['{"error": {"message": "no room on the card"}}', 'application/json', 'no room on the card'],
    ['{"error": "try later"}', 'application/json', 'try later'],
    ['{"detail": "no session"}', '', 'no session'],
    ['{"detail": [{"msg": "field required"}]}', 'application/json', '[{"msg":"field required"}]'],
    ['oops', 'text/plain; charset=utf-8', 'oops'],
    ['oops', 'application/octet-stream', 'application/octet-stream: oops'],
    ['', 'text/plain', ''],
    ['', 'text/html', 'text/html'],
    ['two\n  lines', '', 'two lines'],
    ['a \u001b[31mred\u0007 \u202etxt', '', 'a \\e[31mred\\u{7} \\u{202e}txt'],
    ['<!DOCTYPE html><title>Sign in</title>', 'text/html; charset=utf-8', 'text/html: Sign in'],
    ['<html><body>502 <b>Bad</b>&nbsp;Gateway</body>', '', 'text/html: 502 Bad Gateway'],
    [
      '<p>a &lt;b&gt; &amp; &#39;c&#39; &#27;[0m &#99999999;</p>',
      'text/html',
      "text/html: a <b> & 'c' \\e[0m &#99999999;",
    ],
    ['<style>p{color:red}</style><script>alert(1 < 2)</script><p>hello', 'text/html', 'text/html: hello'],
    ['<p>cut in <a href="/x', 'text/html', 'text/html: cut in'],
    ['<!-- hidden <p>no</p> --><p>seen</p><script>never closed', 'text/html', 'text/html: seen'],
    ['<Error><Code>NoSuchBucket</Code></Error>', 'application/xml', 'application/xml: NoSuchBucket'],
    ['page', '<script>', 'page'],
  ])('%j of %j', (text, type, expected) => {
    expect(said(text, type)).toBe(expected);
  });

  it('a page is shown by its first words, a message by more of them', () => {
    expect(said(`<p>${'word '.repeat(10_000)}`, 'text/html')).toHaveLength('text/html: '.length + 120);
    expect(said('x'.repeat(10_000))).toHaveLength(300);
  });

  it('is one short line without a tag, whatever comes', () => {
    const pieces = fc.constantFrom(
      '<',
      '>',
      '<p>',
      '</script>',
      '<script ',
      '<!--',
      '\n',
      '\u0000',
      '"',
      '&lt;',
      'a',
      '{',
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 60 }), fc.constantFrom('', 'text/html'), (parts, type) => {
        const line = said(parts.join(''), type);
        expect(line).toMatch(/^[\x20-\x7e…]{0,330}$/);
        if (type === 'text/html' && !parts.includes('&lt;')) expect(line).not.toMatch(/<(p|script|!--)/);
      }),
    );
  });
});
