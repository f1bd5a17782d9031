/**
 * A system is a row: who grades the proposer, and where labels come from (method.md sections 3 and 4). The four of the papers
 * have names of their own; the others are named by their plan, and `msv+` stands for verified labels.
 */
import type { FeedbackPlanName } from '../method/feedback.ts';
import type { LabelRule } from '../method/label.ts';

export interface System {
  readonly feedback: FeedbackPlanName;
  readonly labels: LabelRule;
}

export const SYSTEMS = {
  'dr-zero': { feedback: 'coupled', labels: 'draft' },
  crossfit: { feedback: 'crossfit', labels: 'draft' },
  msv: { feedback: 'coupled', labels: 'msv' },
  'msv+crossfit': { feedback: 'crossfit', labels: 'msv' },
  'same-source': { feedback: 'same-source', labels: 'draft' },
  'full-data': { feedback: 'full-data', labels: 'draft' },
  'random-question': { feedback: 'random-question', labels: 'draft' },
  'half-budget': { feedback: 'half-budget', labels: 'draft' },
  'msv+same-source': { feedback: 'same-source', labels: 'msv' },
  'msv+full-data': { feedback: 'full-data', labels: 'msv' },
  'msv+random-question': { feedback: 'random-question', labels: 'msv' },
  'msv+half-budget': { feedback: 'half-budget', labels: 'msv' },
} as const satisfies Record<string, System>;

export type SystemName = keyof typeof SYSTEMS;

const NAMES = Object.keys(SYSTEMS) as SystemName[];

/** The row with these columns; every pair has one. */
export const systemOf = (feedback: FeedbackPlanName, labels: LabelRule): SystemName =>
  NAMES.find((name) => SYSTEMS[name].feedback === feedback && SYSTEMS[name].labels === labels)!;

/**
 * Round 1 has no auxiliaries, so all systems of a label rule share it: computed once, then branched. The rule's name of that
 * part in the records, and where it stands in the journal.
 */
export const SHARED: Readonly<Record<LabelRule, { readonly name: string; readonly prefix: string }>> = {
  draft: { name: 'shared', prefix: '' },
  msv: { name: 'shared+msv', prefix: 'msv/' },
};

/** The shared part that a system branches from. `system` comes from a journal. */
export const sharedOf = (system: string): string =>
  SHARED[NAMES.includes(system as SystemName) ? SYSTEMS[system as SystemName].labels : 'draft'].name;

/** Is it the first of the run's systems that branch from its shared part? That part is shown with it, once. */
export const leadsShared = (systems: readonly string[], system: string): boolean =>
  systems.find((other) => sharedOf(other) === sharedOf(system)) === system;

export const isShared = (name: string): boolean => Object.values(SHARED).some((shared) => shared.name === name);
