/** Text of a PDF, page by page. Scripts in it are never run. */
import type { Parse } from './document.ts';

/** A word cut at the end of a line is whole again; "Anglo-" before a capital is no such word. */
const unhyphenated = (text: string): string => text.replace(/(?<=\p{Ll})[-\u00AD\u2010][ \t]{0,4}\n(?=\p{Ll})/gu, '');

export const pdfDocument: Parse = async (bytes) => {
  // Loaded when it is needed: the parser is large.
  const { extractText, getDocumentProxy, getMeta } = await import('unpdf');
  const pdf = await getDocumentProxy(new Uint8Array(bytes), { isEvalSupported: false, verbosity: 0 });
  try {
    const { text } = await extractText(pdf, { mergePages: false });
    const { info } = await getMeta(pdf);
    const title = typeof info.Title === 'string' ? info.Title.trim().slice(0, 300) : '';
    const body = text.map((page) => page.trim()).filter((page) => page !== '');
    if (body.length === 0)
      return { reason: 'empty', problem: 'no text in the PDF; is it a scan? Run it through OCR first' };
    return { title: title === '' ? undefined : title, text: unhyphenated(body.join('\n')) };
  } finally {
    await pdf.destroy();
  }
};
