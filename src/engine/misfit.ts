/** A tokenizer that is not that of the server's model, told by the text where it shows. */
import type { Tokenizer } from '../engine.ts';
import { UserError } from '../util/error.ts';
import { visible } from '../util/visible.ts';

/** Tokens either side of the one in question. */
const AROUND = 8;
const SHOWN = 40;

const FIX = "--tokenizer must be the folder with the tokenizer.json of the server's model";

/** A token of ours that the server does not have. @param serverSize tokens of its vocabulary, where it says. */
export function unknownThere(
  tokens: readonly number[],
  at: number,
  tokenizer: Tokenizer,
  serverSize: number | null,
): UserError {
  const sizes = `the tokenizer has ${tokenizer.vocabSize} tokens${serverSize === null ? '' : `, the server's model ${serverSize}`}`;
  return new UserError(
    `the server does not know token ${tokens[at]} (in brackets: ${around(tokens, at, tokenizer)}): ${sizes}; ${FIX}`,
  );
}

/** A token of the server's that the tokenizer does not have; null: there is none. */
export function unknownHere(
  prompt: readonly number[],
  reply: readonly number[],
  tokenizer: Tokenizer,
): UserError | null {
  const at = reply.findIndex((id) => !Number.isInteger(id) || id < 0 || id >= tokenizer.vocabSize);
  if (at < 0) return null;
  const before = ending(textOf([...prompt, ...reply.slice(0, at)].slice(-AROUND), tokenizer));
  return new UserError(
    `the server sampled token ${reply[at]} after ${quoted(before)}, but the tokenizer has ${tokenizer.vocabSize} tokens; ${FIX}`,
  );
}

/** The same tokens as the server writes them and as the tokenizer does; null: alike, or nothing can be said. */
export function otherText(tokens: readonly number[], text: string, tokenizer: Tokenizer): UserError | null {
  // Servers tidy up blanks.
  const [there, here] = [text, tokenizer.decode(tokens)].map((side) => side.replace(/\s+/g, '')) as [string, string];
  // A token that is a part of a character has no text of its own, a control token often none.
  const open = there === '' || here === '' || /\ufffd/.test(there + here);
  if (open || here.includes(there) || there.includes(here)) return null;
  return new UserError(
    `the server's reply is ${quoted(text.slice(0, SHOWN))}, and its tokens are ${quoted(tokenizer.decode(tokens).slice(0, SHOWN))} by the tokenizer (${tokenizer.vocabSize} tokens); ${FIX}`,
  );
}

/** ` Lower [Saxony] is` */
function around(tokens: readonly number[], at: number, tokenizer: Tokenizer): string {
  const before = ending(textOf(tokens.slice(Math.max(0, at - AROUND), at), tokenizer));
  const after = textOf(tokens.slice(at + 1, at + 1 + AROUND), tokenizer).slice(0, SHOWN);
  return quoted(`${before}[${textOf([tokens[at]!], tokenizer)}]${after}`);
}

const textOf = (tokens: readonly number[], tokenizer: Tokenizer): string =>
  tokenizer.decode(tokens.filter((id) => id >= 0 && id < tokenizer.vocabSize));

const ending = (text: string): string => text.slice(-SHOWN);
const quoted = (text: string): string => `"${visible(text)}"`;
