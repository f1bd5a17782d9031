/**
 * Checks on a bank of self-written questions, and the sign of collusion that needs no auditor. [ours] Neither paper has them;
 * they are read-only reports and admit or reward nothing unless a recipe asks.
 *
 *   duplicate       equal after normalisation to an earlier question that was kept
 *   sibling leak    each of two questions contains the other's answer: one fact asked from both ends
 *   unsupported     responses agree with the label, the label is in nothing that was retrieved, and a solver that never
 *                   trained on the source does not find it
 */
import { normalize } from '../text/normalize.ts';

export interface Candidate {
  readonly id: string;
  readonly question: string;
  readonly answer: string;
}

export interface Screening {
  readonly kept: readonly string[];
  readonly dropped: readonly {
    readonly id: string;
    readonly reason: 'duplicate_of' | 'sibling_leak_with';
    readonly other: string;
  }[];
  /** Duplicates as a share of all candidates. */
  readonly duplicateRate: number;
  /** Ids that belong on the same side of a train/evaluation split. */
  readonly together: readonly (readonly string[])[];
}

/** Earlier candidates win. */
export function screen(candidates: readonly Candidate[]): Screening {
  const kept: { id: string; q: string; a: string; group: string[] }[] = [];
  const byText = new Map<string, (typeof kept)[number]>();
  const dropped: Screening['dropped'][number][] = [];
  for (const { id, question, answer } of candidates) {
    const q = normalize(question);
    const a = normalize(answer);
    const same = byText.get(q);
    const other = same ?? kept.find((k) => a !== '' && k.a !== '' && q.includes(k.a) && k.q.includes(a));
    if (other) {
      dropped.push({ id, reason: same ? 'duplicate_of' : 'sibling_leak_with', other: other.id });
      other.group.push(id);
    } else {
      const entry = { id, q, a, group: [id] };
      kept.push(entry);
      byText.set(q, entry);
    }
  }
  const duplicates = dropped.filter((d) => d.reason === 'duplicate_of').length;
  return {
    kept: kept.map((k) => k.id),
    dropped,
    duplicateRate: candidates.length === 0 ? 0 : duplicates / candidates.length,
    together: kept.map((k) => k.group),
  };
}

export interface AgreementEvidence {
  /** Share of responses that match the label. */
  readonly agreement: number;
  /** Share of the retrieved texts that contain the label. */
  readonly support: number;
  /** Share of a held-out solver's responses that match the label. */
  readonly heldOut: number;
  readonly flag: 'unsupported_agreement' | null;
}

export function agreementEvidence(
  label: string,
  matches: readonly boolean[],
  retrieved: readonly string[],
  heldOutMatches: readonly boolean[],
): AgreementEvidence {
  const share = (of: readonly boolean[]) => (of.length === 0 ? 0 : of.filter(Boolean).length / of.length);
  const needle = normalize(label);
  const agreement = share(matches);
  const support = share(retrieved.map((text) => needle !== '' && normalize(text).includes(needle)));
  const heldOut = share(heldOutMatches);
  const flag = agreement > 0.5 && support === 0 && heldOut === 0 ? 'unsupported_agreement' : null;
  return { agreement, support, heldOut, flag };
}
