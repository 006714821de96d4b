// Decoding of packed columns: base64, deflate, four planes of bytes, differences of bit patterns.

import { unzlibSync } from "fflate";
import type { Packed } from "./head";

export type Numbers = Float32Array | Float64Array;

export function decodeBase64(text: string): Uint8Array {
  const binary = atob(text.trim());
  const bytes = new Uint8Array(binary.length);
  for (let k = 0; k < binary.length; k++) bytes[k] = binary.charCodeAt(k);
  return bytes;
}

/** Decodes planes and differences: value k has its lowest byte at k, the next at n + k, and so on. */
export function joinPlanes(planes: Uint8Array, count: number): Float32Array {
  if (planes.length !== 4 * count) throw new Error(`a column has ${planes.length} bytes instead of ${4 * count}`);
  const bits = new Uint32Array(count);
  let word = 0;
  for (let k = 0; k < count; k++) {
    const difference = planes[k]! | (planes[count + k]! << 8) | (planes[2 * count + k]! << 16) | (planes[3 * count + k]! << 24);
    word = (word + difference) | 0;
    bits[k] = word;
  }
  return new Float32Array(bits.buffer);
}

/** The bytes of all columns of a page. */
export class Payload {
  constructor(private readonly bytes: Uint8Array) {}

  column(packed: Packed): Numbers {
    const planes = unzlibSync(this.bytes.subarray(packed.at, packed.at + packed.bytes));
    const values = joinPlanes(planes, packed.values);
    const base = packed.base ?? NaN;
    return base === 0 ? values : Float64Array.from(values, (x) => base + x);
  }

  /** A column in two parts: the nearest floats, and the remainders. */
  fine([near, rest]: [Packed, Packed]): Float64Array {
    const missed = this.column(rest);
    return Float64Array.from(this.column(near), (x, k) => x + (missed[k] ?? 0));
  }
}
