/**
 * Auditor contract: the reference for a question, post hoc and read-only (method.md section 5). What an auditor cannot
 * support it leaves unresolved; that lowers coverage and is never forced.
 */
export interface AuditQuestion {
  readonly question: string;
  readonly source: string;
  readonly label: string;
  readonly responses: readonly (string | null)[];
  /** Right answers that came with the question, aliases of one another. */
  readonly references?: readonly string[];
  /** What the label was found to be by whoever wrote the log. */
  readonly labelVerdict?: boolean;
  /** Text of the source, where it came with the question. */
  readonly evidence?: string;
}

export type Verdict =
  | { readonly resolved: false; readonly why: string }
  | {
      readonly resolved: true;
      readonly reference: string;
      readonly labelCorrect: boolean;
      /** Per response; null is a response that cannot be judged. */
      readonly responseCorrect: readonly (boolean | null)[];
    };

export interface Auditor {
  readonly name: string;
  judge(items: readonly AuditQuestion[]): Promise<readonly Verdict[]>;
}
