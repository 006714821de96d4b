// Bounding box of the motion: paths of bodies with their sizes, and bounded fixed shapes.

import { Box3, Quaternion, Sphere, Vector3 } from "three";
import type { Outline, Triple } from "../data/head";
import type { Run } from "../data/run";
import { drawable } from "./figures";

/** Sampled moments per body, and points of a body. */
const SAMPLES = 120;
const CORNERS = 256;
const AXES = ["x", "y", "z"] as const;

const length = (p: readonly number[]): number => Math.hypot(...p);

/** Points of a figure, each with the radius of what is round about it; half-spaces have none. */
function corners(outline: Outline): [Triple, number][] {
  switch (outline.kind) {
    case "round":
      return [[outline.at, outline.radius]];
    case "capsule":
      return [[outline.from, outline.radius], [outline.to, outline.radius]];
    case "ellipse":
      return [[outline.at, Math.max(length(outline.first), length(outline.second))]];
    case "polygon":
    case "polyhedron":
      return outline.vertices.map((vertex) => [vertex, 0]);
    case "point":
      return [[outline.at, 0]];
    case "half-space":
      return [];
    default:
      // A figure of a later version.
      return [];
  }
}

/** Quantile of sorted values. */
function quantile(values: number[], fraction: number): number {
  const sorted = values.filter(Number.isFinite).sort((a, b) => a - b);
  return sorted[Math.round(fraction * (sorted.length - 1))] ?? NaN;
}

/** Positions of a body, without the end of the path of a body that leaves: outliers count only at the start. */
function bodyBox(run: Run, index: number, box: Box3): void {
  const [position, turn, corner] = [new Vector3(), new Quaternion(), new Vector3()];
  const all = run.head.bodies[index]!.outlines.flatMap(corners).filter(([at, radius]) => drawable([...at, radius]));
  const sparse = Math.ceil(all.length / CORNERS);
  const points = all.filter((_, k) => k % sparse === 0);
  if (points.length === 0 && run.moves(index)) points.push([[0, 0, 0], 0]);
  const boxAt = (frame: number): Box3 => {
    const here = new Box3();
    run.pose(index, frame, position, turn);
    for (const [at, radius] of points) {
      corner.set(...at).applyQuaternion(turn).add(position);
      here.expandByPoint(corner.clone().addScalar(radius)).expandByPoint(corner.addScalar(-radius));
    }
    return here;
  };
  grow(box, boxAt(0));
  if (!run.moves(index)) return;
  const every = Math.max(1, Math.floor(run.frames / SAMPLES));
  const boxes: Box3[] = [];
  for (let frame = 0; frame < run.frames; frame += every) boxes.push(boxAt(frame));
  const low = AXES.map((axis) => quantile(boxes.map((here) => here.min[axis]), 0.03));
  const high = AXES.map((axis) => quantile(boxes.map((here) => here.max[axis]), 0.97));
  grow(box, new Box3(new Vector3(...low), new Vector3(...high)));
}

function grow(box: Box3, by: Box3): void {
  if (drawable([...by.min.toArray(), ...by.max.toArray()])) box.union(by);
}

/** The box and its sphere, never empty. */
export function boundsOf(runs: Run[]): { box: Box3; sphere: Sphere } {
  const box = new Box3();
  for (const run of runs) {
    run.head.bodies.forEach((_, index) => bodyBox(run, index, box));
    const [position, turn] = [new Vector3(), new Quaternion()];
    for (const link of run.head.links) {
      for (const [body, at] of [[link.a, link.at_a], [link.b, link.at_b]] as const) {
        if (run.moves(body)) continue;
        run.pose(body, 0, position, turn);
        const end = new Vector3(...at).applyQuaternion(turn).add(position);
        grow(box, new Box3(end, end));
      }
    }
    if (run.head.dimension === 2) {
      box.min.z = 0;
      box.max.z = 0;
    }
  }
  if (box.isEmpty()) box.set(new Vector3(-1, -1, 0), new Vector3(1, 1, 0));
  const sphere = box.getBoundingSphere(new Sphere());
  if (!(sphere.radius > 0)) sphere.radius = 1;
  return { box, sphere };
}
