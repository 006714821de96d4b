// Columns come back as they were packed; the packing here is written anew, with the deflate of Node.

import assert from "node:assert/strict";
import { test } from "node:test";
import { deflateSync } from "node:zlib";
import type { Packed } from "../src/data/head";
import { Payload, decodeBase64, joinPlanes } from "../src/data/payload";

function pack(values: number[], base = 0): { bytes: Uint8Array; packed: Packed } {
  const bits = new Uint32Array(Float32Array.from(values, (x) => x - base).buffer);
  const planes = new Uint8Array(4 * values.length);
  bits.forEach((word, k) => {
    const difference = (word - (k > 0 ? bits[k - 1]! : 0)) >>> 0;
    for (let byte = 0; byte < 4; byte++) planes[byte * values.length + k] = (difference >>> (8 * byte)) & 255;
  });
  const bytes = new Uint8Array(deflateSync(planes));
  return { bytes, packed: { at: 0, bytes: bytes.length, values: values.length, base } };
}

test("columns come back to the precision of their floats", () => {
  const values = Array.from({ length: 1000 }, (_, k) => Math.sin(0.01 * k) * Math.pow(10, (k % 7) - 3));
  const { bytes, packed } = pack(values);
  assert.deepEqual([...new Payload(bytes).column(packed)], [...Float32Array.from(values)]);
});

test("a column about a large value keeps what varies", () => {
  const values = Array.from({ length: 100 }, (_, k) => 1000 + 1e-9 * k);
  const { bytes, packed } = pack(values, 1000);
  new Payload(bytes).column(packed).forEach((x: number, k: number) => assert.ok(Math.abs(x - values[k]!) < 1e-12));
});

test("what is no number stays none, and empty columns are empty", () => {
  const { bytes, packed } = pack([NaN, Infinity, -Infinity, 0]);
  assert.deepEqual([...new Payload(bytes).column(packed)], [NaN, Infinity, -Infinity, 0]);
  assert.equal(new Payload(pack([]).bytes).column(pack([]).packed).length, 0);
});

test("a column of the wrong length is refused", () => {
  assert.throws(() => joinPlanes(new Uint8Array(7), 2), /7 bytes instead of 8/);
  const { bytes, packed } = pack([1, 2, 3]);
  assert.throws(() => new Payload(bytes).column({ ...packed, values: 2 }));
});

test("base64 of the standard", () => {
  assert.deepEqual([...decodeBase64("Zm9vYg==\n")], [...Buffer.from("foob")]);
});
