/** JSON objects in a model's reply: alone, in a code fence, or among words. Time is linear in the length of the text. */

/** More is no short reply with a verdict in it. */
const LONGEST = 65_536;

/** The objects at the outermost braces, in order; what does not parse is passed over. */
export function jsonObjects(text: string): Readonly<Record<string, unknown>>[] {
  const found: Readonly<Record<string, unknown>>[] = [];
  if (text.length > LONGEST) return found;
  let start = -1;
  let depth = 0;
  let inString = false;
  for (let i = 0; i < text.length; i++) {
    const char = text[i]!;
    if (inString) {
      if (char === '\\') i++;
      else if (char === '"') inString = false;
    } else if (char === '"') inString = depth > 0;
    else if (char === '{') {
      if (depth++ === 0) start = i;
    } else if (char === '}' && depth > 0 && --depth === 0) {
      const value = parsed(text.slice(start, i + 1));
      if (value !== null) found.push(value);
    }
  }
  return found;
}

function parsed(text: string): Readonly<Record<string, unknown>> | null {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
