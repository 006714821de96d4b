// Round numbers for axes.

import { roundNumber } from "../scene/ground";

export interface Scale {
  /** From values to pixels. */
  place: (value: number) => number;
  ticks: { value: number; text: string }[];
}

/** A number with as many digits as its neighbours need. */
export function tickText(value: number, spacing: number): string {
  if (Math.abs(value) < 1e-9 * spacing) return "0";
  const size = Math.max(Math.abs(value), spacing);
  const decade = (x: number): number => Math.floor(Math.log10(x) + 1e-9);
  if (size >= 1e5 || size < 1e-3) return value.toExponential(Math.max(0, Math.min(6, decade(Math.abs(value)) - decade(spacing)))).replace("e+", "e");
  return value.toFixed(Math.max(0, Math.min(9, -Math.floor(Math.log10(spacing) + 1e-9))));
}

export function linear(low: number, high: number, from: number, to: number, wanted: number): Scale {
  const place = (value: number): number => from + ((value - low) / (high - low)) * (to - from);
  const spacing = roundNumber((high - low) / wanted);
  const ticks: Scale["ticks"] = [];
  for (let k = Math.ceil(low / spacing - 1e-9); k * spacing <= high + 1e-9 * spacing && ticks.length < 50; k++) ticks.push({ value: k * spacing, text: tickText(k * spacing, spacing) });
  return { place, ticks };
}

export function logarithmic(low: number, high: number, from: number, to: number, wanted: number): Scale {
  const [a, b] = [Math.log10(low), Math.log10(high)];
  const place = (value: number): number => (value > 0 ? from + ((Math.log10(value) - a) / (b - a)) * (to - from) : NaN);
  const every = Math.max(1, Math.ceil((b - a) / wanted));
  const ticks: Scale["ticks"] = [];
  for (let power = Math.ceil(a); power <= b && ticks.length < 50; power += every) ticks.push({ value: Math.pow(10, power), text: `1e${power}` });
  return { place, ticks };
}
