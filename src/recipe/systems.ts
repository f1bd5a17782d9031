/** A system is a row: who grades the proposer, and where labels come from (method.md section 4). */
import type { FeedbackPlanName } from '../method/feedback.ts';
import type { LabelRule } from '../method/label.ts';

export interface System {
  readonly feedback: FeedbackPlanName;
  readonly labels: LabelRule;
}

export const SYSTEMS = {
  'dr-zero': { feedback: 'coupled', labels: 'draft' },
  crossfit: { feedback: 'crossfit', labels: 'draft' },
} as const satisfies Record<string, System>;

export type SystemName = keyof typeof SYSTEMS;
