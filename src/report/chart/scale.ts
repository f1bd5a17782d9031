/** Axes: ticks at round numbers, and the map from values to pixels. */

const STEPS = [1, 2, 2.5, 5, 10];

/** Ticks at multiples of 1, 2, 2.5 or 5 times a power of ten, which cover low..high in about `wanted` steps. */
export function niceTicks(low: number, high: number, wanted: number): number[] {
  if (!(high > low)) {
    // A constant stands in the middle.
    const room = Math.abs(low) / 4 || 1;
    return niceTicks(low - room, low + room, wanted);
  }
  const spread = high - low;
  const rough = spread / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * STEPS.find((s) => s * power >= rough * 0.999)!;
  const first = Math.floor(low / step + 1e-9);
  const last = Math.max(Math.ceil(high / step - 1e-9), first + 1);
  // Through a fixed number of digits: 3 × 0.1 is not 0.3.
  return Array.from({ length: last - first + 1 }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}

/** Labels with as many decimals as the ticks need. */
export function tickLabels(ticks: readonly number[]): string[] {
  const step = ticks.length > 1 ? ticks[1]! - ticks[0]! : 1;
  const largest = Math.max(...ticks.map(Math.abs));
  const decimals = [0, 1, 2, 3, 4].find((d) => Math.abs(step * 10 ** d - Math.round(step * 10 ** d)) < 1e-6);
  return ticks.map((tick) => {
    if (tick === 0) return '0';
    const text = decimals === undefined || largest >= 10_000 ? tick.toExponential() : tick.toFixed(decimals);
    return text
      .replace(/^(-?)0\./, '$1.')
      .replaceAll('-', '−')
      .replace('e+', 'e');
  });
}

export type Scale = (value: number) => number;

export const linear = (from: readonly [number, number], to: readonly [number, number]): Scale => {
  const spread = from[1] - from[0] || 1;
  return (value) => to[0] + ((value - from[0]) / spread) * (to[1] - to[0]);
};

/** Moves labels apart to at least `gap`, inside low..high, keeping their order. Returns positions in the order given. */
export function spreadApart(wanted: readonly number[], gap: number, low: number, high: number): number[] {
  const order = wanted.map((_, i) => i).sort((a, b) => wanted[a]! - wanted[b]!);
  const placed = order.map((i) => wanted[i]!);
  for (let k = 0; k < placed.length; k++)
    placed[k] = Math.max(placed[k]!, low, (placed[k - 1] ?? Number.NEGATIVE_INFINITY) + gap);
  for (let k = placed.length - 1; k >= 0; k--) placed[k] = Math.min(placed[k]!, (placed[k + 1] ?? high + gap) - gap);
  const out = new Array<number>(wanted.length);
  order.forEach((i, k) => {
    out[i] = placed[k]!;
  });
  return out;
}
