/** A JSON array of documents (HippoRAG's corpus files), cut into its elements as the bytes come: it may not fit in one string. */
import { isUtf8 } from 'node:buffer';
import { UserError } from '../../util/error.ts';
import { notUtf8 } from './document.ts';
import type { CorpusFile } from './files.ts';
import { type CorpusRow, parseCorpusRow } from './line.ts';
import { largest, readBytes } from './open.ts';
import type { Located } from './read.ts';
import { type CorpusReport, type Problem, skip } from './report.ts';

export async function* readJsonArray({ path, name, named }: CorpusFile, report: CorpusReport): AsyncGenerator<Located> {
  const splitter = arraySplitter(path);
  let row = 0;
  for await (const chunk of readBytes(path, report)) {
    for (const bytes of splitter.push(chunk)) {
      const where = `${name}:${++row}`;
      const read = parsed(bytes, where);
      if (!read.ok) {
        skip(report, where, read);
        continue;
      }
      for (const note of read.notes) report.repairs[note]++;
      yield { source: read.doc, where };
    }
    if (splitter.state() === 'no-array') break;
  }
  const state = splitter.state();
  if (state === 'closed') return;
  // A folder may hold JSON of any kind.
  if (state === 'no-array' && !named) report.otherFiles++;
  else skip(report, name, problems[state]);
}

const problems: Readonly<Record<'no-array' | 'open', Problem>> = {
  'no-array': {
    reason: 'malformed',
    problem: 'not an array of {"title", "text"}; rename it to .jsonl if it holds an object a line',
  },
  open: { reason: 'damaged', problem: 'the array is not closed: the file is cut short' },
};

function parsed(bytes: Buffer, place: string): CorpusRow {
  if (!isUtf8(bytes)) return notUtf8;
  try {
    return parseCorpusRow(JSON.parse(bytes.toString()), place);
  } catch (error) {
    return { ok: false, reason: 'not_json', problem: `not JSON (${(error as Error).message})` };
  }
}

const [quote, backslash, comma, open, close] = [0x22, 0x5c, 0x2c, 0x5b, 0x5d];
const deeper: ReadonlySet<number> = new Set([0x7b, open]);
const shallower: ReadonlySet<number> = new Set([0x7d, close]);

/** Cuts at the commas of the outer array. Every byte that steers is ASCII, so characters cut by a chunk do not matter. */
function arraySplitter(path: string) {
  let depth = 0;
  let inString = false;
  let escaped = false;
  let state: 'start' | 'open' | 'closed' | 'no-array' = 'start';
  let parts: Buffer[] = [];
  let held = 0;
  const hold = (piece: Buffer): void => {
    parts.push(piece);
    held += piece.length;
    if (held > largest) throw new UserError(`${path}: one element of the array is longer than 256 MiB`);
  };
  const take = (): Buffer[] => {
    const bytes = Buffer.concat(parts);
    [parts, held] = [[], 0];
    return bytes.toString('latin1').trim() === '' ? [] : [bytes];
  };
  /** Where the array begins in its first chunk; -1 when it does not. */
  const begin = (chunk: Buffer): number => {
    const head = chunk.toString('latin1').replace(/^\u00ef\u00bb\u00bf/, '   ');
    const first = head.search(/\S/);
    if (first < 0) return -1;
    state = head[first] === '[' ? 'open' : 'no-array';
    return state === 'open' ? first + 1 : -1;
  };
  return {
    state: () => (state === 'start' ? ('no-array' as const) : state),
    push(chunk: Buffer): Buffer[] {
      const elements: Buffer[] = [];
      let from = 0;
      if (state === 'start') from = begin(chunk);
      if (state !== 'open') return elements;
      for (let i = from; i < chunk.length; i++) {
        const byte = chunk[i]!;
        if (escaped) escaped = false;
        else if (inString) {
          if (byte === backslash) escaped = true;
          else if (byte === quote) inString = false;
        } else if (byte === quote) inString = true;
        else if (deeper.has(byte)) depth++;
        else if (depth > 0 && shallower.has(byte)) depth--;
        else if (depth === 0 && (byte === comma || byte === close)) {
          hold(chunk.subarray(from, i));
          elements.push(...take());
          from = i + 1;
          if (byte === close) {
            state = 'closed';
            return elements;
          }
        }
      }
      hold(chunk.subarray(from));
      return elements;
    },
  };
}
