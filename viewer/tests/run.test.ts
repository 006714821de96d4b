// A run is put together from its columns: poses, contacts by moment, forces from impulses, support points.

import assert from "node:assert/strict";
import { test } from "node:test";
import { zlibSync } from "fflate";
import { Quaternion, Vector3 } from "three";
import type { ColumnHead, Packed, RunHead } from "../src/data/head";
import { Payload } from "../src/data/payload";
import { Mode, Run } from "../src/data/run";
import { choices, curves } from "../src/plot/series";

/** Columns one after the other. */
class Columns {
  bytes: number[] = [];

  add(values: number[]): Packed {
    const bits = new Uint32Array(Float32Array.from(values).buffer);
    const planes = new Uint8Array(4 * values.length);
    bits.forEach((word, k) => {
      const difference = word - (k > 0 ? bits[k - 1]! : 0);
      for (let byte = 0; byte < 4; byte++) planes[byte * values.length + k] = difference >> (8 * byte);
    });
    const packed = zlibSync(planes);
    const at = this.bytes.length;
    this.bytes.push(...packed);
    return { at, bytes: packed.length, values: values.length, base: 0 };
  }

  named(name: string, values: number[], unit = ""): ColumnHead {
    return { name, unit, ...this.add(values) };
  }
}

/** Three moments of a disc on support points; its contact `a` at all of them after the first, `b` at the last. */
function sample(x = [0, 1, 2]): Run {
  const columns = new Columns();
  const zero = [0, 0, 0];
  const vector = (name: string, values: number[][]): ColumnHead[] => ["x", "y", "z"].map((axis, k) => columns.named(`${name}_${axis}`, values.map((v) => v[k]!)));
  const head: RunHead = {
    label: "run", scene: "scene", version: "0", dimension: 2, step: 0.5, recorded: 3, stride: 1, frames: 3,
    bodies: [
      { name: "world", role: "fixed", position: [1, 2, 0], orientation: [1, 0, 0, 0], column: null, outlines: [], support_points: [], support_column: null },
      { name: "disc", role: "planar", position: [0, 0, 0], orientation: [1, 0, 0, 0], column: 0, outlines: [], support_points: [{ at: [1, 0, 0], load: 10, friction: 0.5 }], support_column: 3 },
    ],
    links: [],
    time: [columns.add([0, 0.5, 0.75]), columns.add(zero)],
    step_before: columns.add([0.5, 0.5, 0.25]),
    columns: [
      columns.named("disc.x", x, "m"), columns.named("disc.y", zero, "m"), columns.named("disc.angle", [0, 0, Math.PI / 2], "rad"),
      columns.named("disc.support_0_x", [0, 1, 1.25]), columns.named("disc.support_0_y", zero), columns.named("disc.support_0_spin", zero), columns.named("residual", zero),
    ],
    contacts: {
      labels: ["a", "b"], rows: [2, 1], frame: columns.add([1, 2, 2]), mode: columns.add([1, 2, 0]),
      columns: [columns.named("gap", [0, 0, 0.1], "m"), columns.named("normal_impulse", [4, 3, 0]), ...vector("friction_impulse", [[1, 0, 0], [0, 2, 0], zero]), ...vector("point", [[7, 0, 0], [8, 0, 0], [9, 0, 0]]), ...vector("normal", [[0, 1, 0], [0, 1, 0], [0, 1, 0]])],
    },
    cut: false,
    summary: null,
  };
  return new Run(head, new Payload(Uint8Array.from(columns.bytes)));
}

test("poses are those of the columns, fixed bodies stay", () => {
  const run = sample();
  const [position, turn] = [new Vector3(), new Quaternion()];
  run.pose(1, 2, position, turn);
  assert.deepEqual(position.toArray(), [2, 0, 0]);
  assert.ok(new Vector3(1, 0, 0).applyQuaternion(turn).distanceTo(new Vector3(0, 1, 0)) < 1e-6);
  run.pose(0, 2, position, turn);
  assert.deepEqual(position.toArray(), [1, 2, 0]);
  assert.deepEqual([run.frameAt(-1), run.frameAt(0.5), run.frameAt(0.74), run.frameAt(9)], [0, 1, 1, 2]);
});

test("contacts belong to their moments, and impulses become forces by the length of the step", () => {
  const run = sample();
  assert.equal(run.contacts(0).length, 0);
  assert.deepEqual(run.contacts(1).map((contact) => [contact.mode, contact.normalForce, contact.frictionForce.x]), [[Mode.Stick, 8, 2]]);
  assert.deepEqual(run.contacts(2).map((contact) => [contact.label, contact.mode, contact.normalForce, contact.point.x]), [[0, Mode.Slip, 12, 8], [1, Mode.Open, 0, 9]]);
});

test("support points stick below their limit and slip at it", () => {
  const run = sample();
  assert.deepEqual([0, 1, 2].map((frame) => run.supportPoints(frame)[0]!.mode), [Mode.Open, Mode.Stick, Mode.Slip]);
  assert.ok(run.supportPoints(2)[0]!.point.distanceTo(new Vector3(2, 1, 0)) < 1e-6);
});

test("everything recorded can be found and plotted", () => {
  const run = sample();
  assert.deepEqual(choices(run, "disc angle", 10).map((choice) => choice.id), ["column:disc.angle"]);
  assert.ok(choices(run, "", 1000).some((choice) => choice.id === "raw:point_x:b"));
  const [series] = curves(run, "contact:normal-force:a");
  assert.deepEqual([[...series!.x], [...series!.y], series!.unit], [[0.5, 0.75], [8, 12], "N"]);
  assert.equal(curves(run, "column:nothing").length, 0);
  assert.equal(curves(run, "set:gap").length, 2);
});

test("numbers that are none do not stop the page", () => {
  const run = sample([0, NaN, 2]);
  const [position, turn] = [new Vector3(), new Quaternion()];
  run.pose(1, 1, position, turn);
  assert.ok(Number.isNaN(position.x));
  assert.equal(run.supportPoints(1).length, 1);
});
