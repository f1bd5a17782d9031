/**
 * SQLM*: one policy asks and answers (method.md section 7). With c of the n answers to a question in the majority:
 *
 *   proposer reward = 1 if 1 < c < n, else 0        a question without format: 0
 *   solver reward   = 1 if the answer matches the majority, else 0
 *
 * The solver is updated in every step, the proposer in every fifth one.
 */
const PROPOSER_EVERY = 5;

/** `step` counts from 0 over the whole run. */
export const proposerLearns = (step: number): boolean => (step + 1) % PROPOSER_EVERY === 0;

export const askingReward = (votes: number, answers: number): number => (votes > 1 && votes < answers ? 1 : 0);
