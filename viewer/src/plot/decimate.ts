// Long curves for few pixels: of all points in a pixel column the first, the lowest, the highest and the last, so that no peak
// is lost. The data stay as they are.

import type { Numbers } from "../data/payload";

export interface Curve {
  x: Numbers;
  y: Numbers;
}

/** The first place in ascending values that is not below the limit. */
export function lowerBound(values: Numbers, limit: number): number {
  let [low, high] = [0, values.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle]! < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Points of the curve between two times, at most four per pixel column, in order; a point that is not a number breaks the line. */
export function decimate(curve: Curve, from: number, to: number, pixels: number): [number, number][] {
  const { x, y } = curve;
  const start = Math.max(0, lowerBound(x, from) - 1);
  const end = Math.min(x.length, lowerBound(x, to) + 2);
  const points: [number, number][] = [];
  if (end - start <= 4 * pixels) {
    for (let k = start; k < end; k++) points.push([x[k]!, y[k]!]);
    return points;
  }
  const column = (k: number): number => Math.floor(((x[k]! - from) / (to - from)) * pixels);
  let k = start;
  while (k < end) {
    const pixel = column(k);
    let [first, lowest, highest, last] = [k, k, k, k];
    let broken = false;
    for (; k < end && column(k) === pixel; k++) {
      const value = y[k]!;
      if (!Number.isFinite(value)) {
        broken = true;
        continue;
      }
      if (!Number.isFinite(y[first]!)) first = lowest = highest = k;
      if (value < y[lowest]!) lowest = k;
      if (value > y[highest]!) highest = k;
      last = k;
    }
    const kept = [...new Set([first, lowest, highest, last])].sort((a, b) => a - b);
    for (const place of kept) points.push([x[place]!, y[place]!]);
    if (broken) points.push([x[last]!, NaN]);
  }
  return points;
}

/** Lowest and highest finite value; null where there is none. */
export function range(values: Numbers, positive = false): [number, number] | null {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) {
    if (!Number.isFinite(value) || (positive && value <= 0)) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return low <= high ? [low, high] : null;
}
