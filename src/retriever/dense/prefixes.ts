/** What stands before every text of a model, so that it knows queries from passages. */
export interface Prefixes {
  readonly query: string;
  readonly passage: string;
}

const E5: Prefixes = { query: 'query: ', passage: 'passage: ' };
const NONE: Prefixes = { query: '', passage: '' };

/** Those that E5 models were trained with where the name says e5, else none; each may be given. */
export function prefixesOf(model: string, given: Partial<Prefixes> = {}): Prefixes {
  return { ...(/(?<![a-z])m?e5(?![a-z0-9])/i.test(model) ? E5 : NONE), ...given };
}
