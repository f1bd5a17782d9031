/** Readable text of HTML, and of Markdown by way of it. Documents are untrusted: nothing in them is run or fetched. */
import { convert, type HtmlToTextOptions, type SelectorDefinition } from 'html-to-text';
import { marked } from 'marked';
import { decoded, notUtf8, type Parse, withoutTitle } from './document.ts';
import { largest } from './open.ts';
import { markdownTitle, withoutFrontMatter } from './title.ts';

const limits = { maxInputLength: largest, maxDepth: 200 };

/** No part of what a page says. */
const unread = ['img', 'script', 'style', 'noscript', 'template', 'nav', 'header', 'footer', 'svg', 'form', 'button'];

const selectors: SelectorDefinition[] = [
  { selector: 'a', options: { ignoreHref: true } },
  ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({ selector, options: { uppercase: false } })),
  { selector: 'table', format: 'dataTable', options: { uppercaseHeaderCells: false } },
  { selector: 'ul', options: { itemPrefix: '- ' } },
  { selector: 'blockquote', format: 'block', options: { leadingLineBreaks: 2, trailingLineBreaks: 2 } },
  { selector: 'hr', format: 'skip' },
  ...unread.map((selector) => ({ selector, format: 'skip' })),
];

const wholeText: HtmlToTextOptions = { wordwrap: false, limits, selectors };

const textOf = (html: string, options: HtmlToTextOptions = {}): string =>
  convert(html, { ...wholeText, ...options })
    .replace(/\n{3,}/g, '\n\n')
    .trim();

export const htmlDocument: Parse = (bytes, report) => {
  const html = decoded(bytes, report);
  if (html === undefined) return notUtf8;
  const title = firstOf(html, 'title') ?? firstOf(html, 'h1');
  const baseElements = { selectors: ['main', 'article', 'body'], returnDomByDefault: true };
  return withoutTitle({ title, text: textOf(html, { baseElements: nestedOnce(html, baseElements) }) });
};

/** A page has one main part: the first kind of element that it has. */
function nestedOnce(html: string, base: NonNullable<HtmlToTextOptions['baseElements']>) {
  const selector = base.selectors?.find((name) => html.toLowerCase().includes(`<${name}`));
  return { ...base, selectors: selector === undefined ? [] : [selector] };
}

/** Text of the first such element; undefined when there is none. */
function firstOf(html: string, selector: string): string | undefined {
  const baseElements = { selectors: [selector], returnDomByDefault: false };
  const text = convert(html, { ...wholeText, limits: { ...limits, maxBaseElements: 1 }, baseElements });
  return text.trim().replace(/\s+/g, ' ').slice(0, 300) || undefined;
}

export const markdownDocument: Parse = (bytes, report) => {
  const raw = decoded(bytes, report);
  if (raw === undefined) return notUtf8;
  const plain = withoutFrontMatter(raw).replace(headingAttributes, '$1').replace(linkAttributes, ')');
  const heading = markdownTitle(raw);
  const title = heading === undefined ? undefined : markdownText(heading).replace(/\s+/g, ' ').trim();
  return withoutTitle({ title, text: markdownText(plain) });
};

/** `[text](page.md){.internal-link target=_blank}` */
const linkAttributes = /\)\{[ \t]*[#.:][^{}\n]{0,200}\}/g;

/** `# Heading { #anchor }` */
const headingAttributes = /^(#{1,6}[ \t][^\n{]{0,300})\{[ \t]*[#.:][^{}\n]{0,200}\}[ \t]*$/gm;

function markdownText(markdown: string): string {
  try {
    return textOf(marked.parse(markdown, { async: false }));
  } catch (error) {
    // Nested deeper than the parser can go: better with its mark-up than not at all.
    if (error instanceof RangeError) return markdown;
    throw error;
  }
}
