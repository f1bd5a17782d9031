/**
 * Folds (method.md section 4; CrossFit paper): every source is assigned once, for the whole run, to fold 0 or 1 by a seeded
 * hash of its id. A question inherits the fold of its source.
 */
import type { Fold } from '../types.ts';
import { rng } from '../util/rng.ts';

/** `unit` is the id of what is kept whole: a source, or a question where a plan splits questions at random. */
export const foldOf = (seed: number, unit: string): Fold => (rng(seed, 'fold', unit).below(2) === 0 ? 0 : 1);

export const otherFold = (fold: Fold): Fold => (fold === 0 ? 1 : 0);
