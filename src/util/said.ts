/** What the reply of a server says, as one short plain line: bodies are untrusted, of any length, and may be web pages. */
import { shortened, visible } from './visible.ts';

/** Characters of a body that are looked at. */
const READ = 50_000;
/** Characters that are shown of what a server says, and of a page that was not meant for us. */
const SHOWN = { message: 300, page: 120 };

/** The message of an error as servers put it into JSON; null where there is none. */
export function complaintIn(json: unknown): string | null {
  if (typeof json !== 'object' || json === null) return null;
  const { error, message, detail } = json as Readonly<Record<string, unknown>>;
  const inner = typeof error === 'object' && error !== null ? (error as { message?: unknown }).message : error;
  const found = [inner, message, detail].find((part) => part !== undefined && part !== null);
  if (found === undefined) return null;
  return typeof found === 'string' ? found : JSON.stringify(found);
}

/**
 * `the model is being moved`, or `text/html: 404 Not Found`; empty where the body is.
 * @param type its Content-Type, which is told unless it is what was to be expected.
 */
export function said(text: string, type = ''): string {
  const json = parsed(text);
  const message = complaintIn(json);
  if (message !== null) return onOneLine(message, SHOWN.message);
  const [named] = /^[\w.+-]+\/[\w.+-]+/.exec(type.trim().toLowerCase()) ?? [];
  const marked = /[/+](x?html|xml)\b/.test(named ?? '') || /^\s*<[!?a-z]/i.test(text);
  const words = marked
    ? onOneLine(withoutMarkup(text.slice(0, READ)), SHOWN.page)
    : onOneLine(text.slice(0, READ), SHOWN.message);
  const kind = named ?? (marked ? 'text/html' : '');
  const told = kind === '' || (!marked && EXPECTED.includes(kind)) ? [] : [kind];
  return [...told, ...(words === '' ? [] : [words])].join(': ');
}

const EXPECTED: readonly string[] = ['application/json', 'text/plain', 'text/event-stream'];

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** What hides is shown, nothing breaks the line, and no text is longer than `limit`. */
const onOneLine = (text: string, limit: number): string =>
  shortened(
    visible(
      text
        .slice(0, 4 * limit)
        .replace(/\s+/g, ' ')
        .trim(),
    ),
    limit,
  );

/** The words of a page. A page that was cut ends where it was. */
const withoutMarkup = (page: string): string =>
  page
    .replace(/<!--[\s\S]*?(?:-->|$)/g, ' ')
    .replace(/<(script|style|svg|noscript)\b[\s\S]*?(?:<\/\1\s*>|$)/gi, ' ')
    .replace(/<[^>]*(?:>|$)/g, ' ')
    .replace(/&(amp|lt|gt|quot|apos|nbsp|#\d{1,6});/g, (whole, name: string) => ENTITIES[name] ?? numbered(name, whole))
    .replace(/\s+/g, ' ');

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' };

const numbered = (name: string, whole: string): string => {
  const code = Number(name.slice(1));
  return code <= 0x10_ff_ff ? String.fromCodePoint(code) : whole;
};
