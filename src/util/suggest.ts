/** "Did you mean …?" for names a person typed. */

/** Edits (insert, delete, replace, swap of neighbours) between two texts. */
function distance(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replace = rows[i - 1]![j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swap = swapped ? rows[i - 2]![j - 2]! + 1 : Number.POSITIVE_INFINITY;
      row.push(Math.min(replace, swap, rows[i - 1]![j]! + 1, row[j - 1]! + 1));
    }
    rows.push(row);
  }
  return rows[a.length]![b.length]!;
}

/** Letters alone: `solver_steps`, `solver-steps` and `solverSteps` are one name. */
const plain = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, '');

/** The name closest to what was typed; null when none is close. Ties go to the earlier name. */
export function nearest(typed: string, names: readonly string[]): string | null {
  // Longer inputs are no slips of the hand, and the table would be large.
  if (typed.length > 60) return null;
  const scored = names.map((name) => ({ name, edits: distance(plain(typed), plain(name)) }));
  const best = scored.reduce((a, b) => (b.edits < a.edits ? b : a), { name: '', edits: Number.POSITIVE_INFINITY });
  return best.edits <= Math.max(1, Math.floor(plain(best.name).length / 3)) ? best.name : null;
}
