/** Axes: ticks at round numbers, and the map from values to pixels. */

const STEPS = [1, 2, 2.5, 5, 10];

/** Ticks at multiples of 1, 2, 2.5 or 5 times a power of ten, which cover low..high in about `wanted` steps. */
export function niceTicks(low: number, high: number, wanted: number): number[] {
  const spread = high > low ? high - low : Math.abs(high) || 1;
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
  if (Math.abs(ticks.at(-1)!) >= 10_000 || step < 1e-4)
    return ticks.map((tick) => (tick === 0 ? '0' : tick.toExponential(1).replace('.0', '').replace('-', '−')));
  const decimals = [0, 1, 2, 3, 4].find((d) => Math.abs(step * 10 ** d - Math.round(step * 10 ** d)) < 1e-6) ?? 4;
  return ticks.map((tick) =>
    tick
      .toFixed(decimals)
      .replace(/^(-?)0\./, '$1.')
      .replace('-', '−'),
  );
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
