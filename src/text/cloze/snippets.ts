/** Cuts a document into the passages the reader reads: whole sentences of one paragraph, at most 60 tokens together. */
import type { Tokenizer } from '../../engine.ts';
import type { Passage, Source } from '../../types.ts';
import { paragraphsOf } from './clean.ts';
import { sentencesOf } from './sentences.ts';

const MAX_TOKENS = 60;
const MIN_TOKENS = 12;

/** The snippets of a document in order, each on one line. A sentence that is too long by itself loses its end. */
export function snippetsOf(text: string, tokenizer: Tokenizer): readonly string[] {
  return paragraphsOf(text).flatMap((paragraph) => snippetsOfParagraph(paragraph, tokenizer));
}

/** The snippets of a source as passages `${source}#${n}`. */
export function clozePassages(source: Source, tokenizer: Tokenizer): readonly Passage[] {
  return snippetsOf(source.text, tokenizer).map((text, n) => ({
    id: `${source.id}#${n}`,
    source: source.id,
    title: source.title,
    text,
  }));
}

function snippetsOfParagraph(paragraph: string, tokenizer: Tokenizer): string[] {
  const out: string[] = [];
  let held: string[] = [];
  let size = 0;
  const flush = (): void => {
    if (size >= MIN_TOKENS) out.push(held.join(' '));
    held = [];
    size = 0;
  };
  for (const whole of sentencesOf(paragraph)) {
    const sentence = shorten(whole, tokenizer);
    if (size + sentence.tokens > MAX_TOKENS) flush();
    held.push(sentence.text);
    size += sentence.tokens;
  }
  flush();
  return out;
}

/** As many words of a sentence as fit, with the number of tokens when a space comes before it. */
function shorten(sentence: string, tokenizer: Tokenizer): { readonly text: string; readonly tokens: number } {
  const ids = tokenizer.encode([` ${sentence}`]);
  if (ids.length <= MAX_TOKENS) return { text: sentence, tokens: ids.length };
  const ends = tokenizer.ends(ids);
  const cut = sentence.lastIndexOf(' ', ends[MAX_TOKENS - 1]! - 1);
  const text = cut > 0 ? sentence.slice(0, cut) : sentence.slice(0, ends[MAX_TOKENS - 1]! - 1);
  return { text, tokens: tokenizer.encode([` ${text}`]).length };
}
