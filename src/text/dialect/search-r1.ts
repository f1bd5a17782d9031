/** Dialect `search-r1` (Search-R1's markup): `<search>` bare query, `<information>` results, `<answer>`. */
import type { Dialect } from '../../dialect.ts';
import { type Markup, type TaggedOptions, taggedDialect } from './tagged.ts';

const MARKUP: Markup = {
  name: 'search-r1',
  search: 'search',
  readCall: (content) => (content === '' ? 'empty_query' : [content]),
  unclosedCall: null,
  evidence: 'information',
  howToSearch: `To look something up, write one query as <search> query </search> and stop. The best documents then come back
between <information> and </information>. Never write an information block yourself.`,
  callForm: '<search> query </search>',
};

export const searchR1 = (options: TaggedOptions = {}): Dialect => taggedDialect(MARKUP, options);
