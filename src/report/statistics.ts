/** The statistics a report quotes. They live in method/, where evaluation and recipes can reach them too. */
export * from '../method/statistics.ts';
