/** Does a text hold what is quoted from it? White space, case and the shape of quotation marks and dashes do not count. */

/** Fewer words could be found anywhere. */
const FEWEST_WORDS = 3;

export function quotes(text: string, evidence: string): boolean {
  const [whole, part] = [plain(text), plain(evidence)];
  if (part === '') return false;
  return (part.split(' ').length >= FEWEST_WORDS || part === whole) && whole.includes(part);
}

const plain = (text: string): string =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[‘’]/g, "'")
    .replace(/[“”]/g, '"')
    .replace(/[–—‑]/g, '-')
    .replace(/\s+/g, ' ')
    .trim();
