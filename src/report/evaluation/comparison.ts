/** Two evaluations side by side as tables. */
import {
  DIFFERENCE_METRICS,
  type Difference,
  type DifferenceMetric,
  type EvaluationComparison,
  type SetTest,
  type TestedMetric,
} from '../../benchmark/compare.ts';
import type { Figures } from '../../benchmark/measure.ts';
import { count, DASH, interval, pValue, share, signed } from '../format.ts';
import { left, right } from '../table.ts';
import { visible } from '../visible.ts';
import { levelsOf, METRIC_HEADS, nameCell } from './evaluation.ts';
import { asText, type Grid, type Layout } from './grid.ts';

export function comparisonText(comparison: EvaluationComparison, layout: Layout = asText): string {
  const { differences, pairs, onlyA, onlyB, complete } = comparison;
  const unlike = [
    ...differences.forbid.map(differenceLine('NOT ALIKE: ')),
    ...differences.allow.map(differenceLine('')),
  ];
  const incomplete = [...(complete.a ? [] : ['A']), ...(complete.b ? [] : ['B'])];
  return [
    ...unlike,
    ...(unlike.length > 0 ? [''] : []),
    ...DIFFERENCE_METRICS.flatMap((metric) => [...layout(grid(comparison, metric)), '']),
    `${count(pairs)} pairs. B − A with a 95 % paired bootstrap interval over questions; McNemar’s exact test (only B right, only A right), Holm-corrected over the sets.`,
    ...(onlyA + onlyB > 0 ? [`Left out: ${count(onlyA)} judged only in A, ${count(onlyB)} only in B.`] : []),
    ...incomplete.map((name) => `INCOMPLETE: ${name} lacks results of some questions.`),
  ].join('\n');
}

const differenceLine =
  (prefix: string) =>
  ({ key, a, b }: Difference): string =>
    visible(`${prefix}${key}: A ${a ?? 'not stated'}, B ${b ?? 'not stated'}`);

function grid({ a, b, difference, tests }: EvaluationComparison, metric: DifferenceMetric): Grid {
  const tested: TestedMetric | null = metric === 'f1' ? null : metric;
  const testOf = (name: string): SetTest | undefined => {
    if (tested === null) return undefined;
    if (name === 'micro') return tests[tested].all;
    return tests[tested].sets[name];
  };
  const pointsOf = (side: EvaluationComparison['a']) =>
    new Map(levelsOf<Figures<DifferenceMetric>>(side).map(([name, figures]) => [name, figures[metric].point]));
  const [inA, inB] = [pointsOf(a), pointsOf(b)];
  const rows = levelsOf<Figures<DifferenceMetric>>(difference).map(([name, figures]) => {
    const test = testOf(name);
    return [
      nameCell(name),
      share(inA.get(name)),
      share(inB.get(name)),
      interval(figures[metric], signed),
      ...(tested === null ? [] : testCells(test)),
    ];
  });
  const head = [left(METRIC_HEADS[metric]), right('A'), right('B'), right('B − A')];
  return { columns: tested === null ? head : [...head, right('McNemar'), right('Holm')], rows };
}

const testCells = (test: SetTest | undefined): string[] =>
  test === undefined
    ? [DASH, DASH]
    : [`${pValue(test.p)} (+${test.onlyB}, −${test.onlyA})`, test.adjusted === null ? DASH : pValue(test.adjusted)];
