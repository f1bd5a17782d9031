/** Matchers by the name that settings use. */
import { cover } from '../matcher/cover.ts';
import { exact } from '../matcher/exact.ts';

export const MATCHERS = { exact, cover } as const;
