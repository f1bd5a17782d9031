/**
 * Auditor contract: the reference for a question, post hoc and read-only (method.md section 5). What an auditor cannot
 * support it leaves unresolved; that lowers coverage and is never forced.
 */
export interface AuditQuestion {
  readonly question: string;
  readonly source: string;
  readonly label: string;
  readonly responses: readonly (string | null)[];
}

export type Verdict =
  | { readonly resolved: false; readonly why: string }
  | {
      readonly resolved: true;
      readonly reference: string;
      readonly labelCorrect: boolean;
      /** Per response. */
      readonly responseCorrect: readonly boolean[];
    };

export interface Auditor {
  readonly name: string;
  judge(items: readonly AuditQuestion[]): Promise<readonly Verdict[]>;
}
