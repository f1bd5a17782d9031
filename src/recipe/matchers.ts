/** Matchers that are rules, by the name that settings use; the judge must be opened (run-matcher). */
import { cover } from '../matcher/cover.ts';
import { exact } from '../matcher/exact.ts';

export const MATCHERS = { exact, cover } as const;
