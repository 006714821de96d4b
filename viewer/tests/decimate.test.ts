// Thinning curves for the screen loses no peak.

import assert from "node:assert/strict";
import { test } from "node:test";
import { linear, logarithmic, tickText } from "../src/plot/axis";
import { decimate, lowerBound, range } from "../src/plot/decimate";

/** Numbers that look random and are the same every time. */
function noise(count: number): Float64Array {
  let seed = 12345;
  return Float64Array.from({ length: count }, () => (seed = (1103515245 * seed + 12345) % 2147483648) / 2147483648);
}

test("every pixel column keeps its lowest and highest value", () => {
  const [count, pixels] = [100_000, 640];
  const x = Float64Array.from({ length: count }, (_, k) => k / count);
  const y = noise(count);
  const points = decimate({ x, y }, 0, 1, pixels);
  assert.ok(points.length <= 4 * (pixels + 2));
  const extremes = (pairs: Iterable<[number, number]>): Map<number, [number, number]> => {
    const found = new Map<number, [number, number]>();
    for (const [t, value] of pairs) {
      const column = Math.floor(t * pixels);
      const [low, high] = found.get(column) ?? [Infinity, -Infinity];
      found.set(column, [Math.min(low, value), Math.max(high, value)]);
    }
    return found;
  };
  const all = extremes(Array.from(x, (t, k) => [t, y[k]!] as [number, number]));
  assert.deepEqual(extremes(points), all);
  for (let k = 1; k < points.length; k++) assert.ok(points[k]![0] >= points[k - 1]![0]);
});

test("short curves and parts of curves keep every point", () => {
  const x = Float64Array.from([0, 1, 2, 3, 4]);
  const y = Float64Array.from([5, 6, 7, 8, 9]);
  assert.deepEqual(decimate({ x, y }, 0, 4, 100), [[0, 5], [1, 6], [2, 7], [3, 8], [4, 9]]);
  // One point beyond either end, so that lines run to the edge.
  assert.deepEqual(decimate({ x, y }, 1.5, 2.5, 100).map(([t]) => t), [1, 2, 3, 4]);
});

test("what is no number breaks the line and is no peak", () => {
  const x = Float64Array.from({ length: 10_000 }, (_, k) => k);
  const y = Float64Array.from(x, (k) => (k === 5000 ? NaN : 1));
  const points = decimate({ x, y }, 0, 10_000, 10);
  assert.equal(points.filter(([, value]) => Number.isNaN(value)).length, 1);
  assert.deepEqual(range(y), [1, 1]);
  assert.equal(range(Float64Array.from([NaN])), null);
});

test("bounds and axes", () => {
  assert.equal(lowerBound(Float64Array.from([0, 1, 1, 2]), 1), 1);
  assert.equal(lowerBound(Float64Array.from([0, 1]), 5), 2);
  assert.deepEqual(linear(0, 1, 0, 100, 5).ticks.map((tick) => tick.text), ["0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
  assert.deepEqual(logarithmic(1e-12, 1, 0, 100, 4).ticks.map((tick) => tick.text), ["1e-12", "1e-9", "1e-6", "1e-3", "1e0"]);
  assert.equal(tickText(-3e-17, 0.1), "0");
  assert.equal(tickText(2.5e-7, 1e-8), "2.5e-7");
});
