// Figures of bodies: fills and rims in the plane, solids and their edges in space.

import {
  BufferGeometry, CapsuleGeometry, CircleGeometry, Float32BufferAttribute, Path, Quaternion, Shape, ShapeGeometry, SphereGeometry,
  Vector2, Vector3,
} from "three";
import { ConvexGeometry } from "three/examples/jsm/geometries/ConvexGeometry.js";
import type { Outline, Triple } from "../data/head";

/** Filled geometry, and lines as pairs of points. */
export interface Figure {
  fill: BufferGeometry | null;
  lines: number[];
}

const ROUND = 64;
/** True for sizes that a picture can show. */
export const drawable = (numbers: readonly number[]): boolean => numbers.every((x) => Number.isFinite(x) && Math.abs(x) < 1e9);

/** The figure of an outline, coarse where there are many; nothing for sizes that cannot be drawn. */
export function figure(outline: Outline, spatial: boolean, coarse = false): Figure | null {
  switch (outline.kind) {
    case "point":
    case "half-space":
      return null;
    case "round":
      if (!drawable([...outline.at, outline.radius])) return null;
      return spatial ? ball(outline.at, outline.radius, coarse) : disc(outline.at, outline.radius);
    case "capsule":
      if (!drawable([...outline.from, ...outline.to, outline.radius])) return null;
      return spatial ? roundedRod(outline.from, outline.to, outline.radius) : stadium(outline.from, outline.to, outline.radius);
    case "ellipse":
      return drawable([...outline.at, ...outline.first, ...outline.second]) ? ellipse(outline.at, outline.first, outline.second) : null;
    case "polygon":
      return outline.vertices.length > 2 && drawable(outline.vertices.flat()) ? polygon(outline.vertices) : null;
    case "polyhedron":
      return drawable(outline.vertices.flat()) ? polyhedron(outline.vertices, outline.edges) : null;
    default:
      return null;
  }
}

function ring(points: Triple[]): number[] {
  return points.flatMap((p, k) => [...p, ...points[(k + 1) % points.length]!]);
}

function polygon(vertices: Triple[]): Figure {
  const shape = new Shape(vertices.map(([x, y]) => new Vector2(x, y)));
  return { fill: new ShapeGeometry(shape), lines: ring(vertices) };
}

function around(at: Triple, first: Triple, second: Triple): Triple[] {
  return Array.from({ length: ROUND }, (_, k) => {
    const [c, s] = [Math.cos((2 * Math.PI * k) / ROUND), Math.sin((2 * Math.PI * k) / ROUND)];
    return [0, 1, 2].map((i) => at[i]! + c * first[i]! + s * second[i]!) as Triple;
  });
}

function disc(at: Triple, radius: number): Figure {
  const fill = new CircleGeometry(radius, ROUND).translate(...at);
  // The spoke shows that it turns.
  const spoke = [...at, at[0] + radius, at[1], at[2]];
  return { fill, lines: [...ring(around(at, [radius, 0, 0], [0, radius, 0])), ...spoke] };
}

function ellipse(at: Triple, first: Triple, second: Triple): Figure {
  const rim = around(at, first, second);
  const axis = [...at, at[0] + first[0], at[1] + first[1], at[2] + first[2]];
  const flat = polygon(rim);
  return { fill: flat.fill, lines: [...flat.lines, ...axis] };
}

function stadium(from: Triple, to: Triple, radius: number): Figure {
  const angle = Math.atan2(to[1] - from[1], to[0] - from[0]);
  const path = new Path();
  path.absarc(to[0], to[1], radius, angle - Math.PI / 2, angle + Math.PI / 2);
  path.absarc(from[0], from[1], radius, angle + Math.PI / 2, angle + 1.5 * Math.PI);
  return polygon(path.getPoints(ROUND / 2).map((p) => [p.x, p.y, 0] as Triple));
}

/** A ball with two great circles that show its rotation. */
function ball(at: Triple, radius: number, coarse: boolean): Figure {
  const r = 1.002 * radius;
  const circles = [around(at, [r, 0, 0], [0, r, 0]), around(at, [r, 0, 0], [0, 0, r])];
  return { fill: new SphereGeometry(radius, coarse ? 20 : 48, coarse ? 14 : 32).translate(...at), lines: circles.flatMap(ring) };
}

function roundedRod(from: Triple, to: Triple, radius: number): Figure {
  const [a, b] = [new Vector3(...from), new Vector3(...to)];
  const along = b.clone().sub(a);
  const fill = new CapsuleGeometry(radius, along.length(), 12, 32);
  // The figure stands along y.
  fill.applyQuaternion(new Quaternion().setFromUnitVectors(new Vector3(0, 1, 0), along.clone().normalize()));
  const middle = a.add(b).multiplyScalar(0.5);
  return { fill: fill.translate(middle.x, middle.y, middle.z), lines: [] };
}

function polyhedron(vertices: Triple[], edges: [number, number][]): Figure {
  const points = vertices.map((vertex) => new Vector3(...vertex));
  const lines = edges.flatMap(([i, j]) => (vertices[i] && vertices[j] ? [...vertices[i]!, ...vertices[j]!] : []));
  return { fill: points.length > 3 ? hull(points) : null, lines };
}

/** Flat and degenerate solids have no hull; their edges are drawn all the same. */
function hull(points: Vector3[]): BufferGeometry | null {
  try {
    return new ConvexGeometry(points);
  } catch {
    return null;
  }
}

/** Line segments as a geometry for thin lines. */
export function segments(lines: number[]): BufferGeometry {
  return new BufferGeometry().setAttribute("position", new Float32BufferAttribute(lines, 3));
}
