/** Which file endings are corpora, and who reads them; each but Parquet may be followed by .gz. */

import { documentReader, textDocument } from './document.ts';
import type { Readers } from './files.ts';
import { readJsonArray } from './json-array.ts';
import { readJsonLines } from './json-lines.ts';
import { htmlDocument, markdownDocument } from './markup.ts';
import { readParquet } from './parquet.ts';
import { pdfDocument } from './pdf.ts';
import { rstDocument } from './rst.ts';
import { markdownTitle, rstTitle } from './title.ts';
import { readTsv } from './tsv.ts';

const jsonLines = { '.jsonl': readJsonLines, '.ndjson': readJsonLines };
const plain = documentReader(textDocument(() => undefined));

/** Documents as they are written: what a model reads is what the file says. */
export const textReaders: Readers = {
  byEnding: {
    '.md': documentReader(textDocument(markdownTitle)),
    '.markdown': documentReader(textDocument(markdownTitle)),
    '.rst': documentReader(textDocument(rstTitle)),
    '.txt': plain,
    ...jsonLines,
  },
  expected:
    'Expected .md, .rst or .txt documents, or .jsonl with {"id", "title", "text"} or {"id", "contents"} a line; each may be .gz.',
};

/** Everything an index takes; documents without their mark-up. */
export const indexReaders: Readers = {
  byEnding: {
    '.md': documentReader(markdownDocument),
    '.markdown': documentReader(markdownDocument),
    '.rst': documentReader(rstDocument),
    '.txt': plain,
    '.html': documentReader(htmlDocument),
    '.htm': documentReader(htmlDocument),
    '.pdf': documentReader(pdfDocument),
    ...jsonLines,
    '.json': readJsonArray,
    '.tsv': readTsv,
    '.parquet': readParquet,
  },
  expected:
    'Expected .md, .rst, .txt, .html or .pdf documents, .jsonl with {"id", "title", "text"} or {"id", "contents"} a line, .json with an array of {"title", "text"}, .tsv with id, text and title, or .parquet; all but .parquet may be .gz.',
};
