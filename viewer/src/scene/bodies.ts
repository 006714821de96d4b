// The bodies of a run. The first run has solid bodies; overlaid runs are transparent, each in its own tint.

import {
  type BufferGeometry, type Color, DoubleSide, Group, LineBasicMaterial, LineSegments, type Material, Mesh, MeshBasicMaterial,
  MeshStandardMaterial, type Quaternion, Vector3,
} from "three";
import { LineMaterial } from "three/examples/jsm/lines/LineMaterial.js";
import { LineSegments2 } from "three/examples/jsm/lines/LineSegments2.js";
import { LineSegmentsGeometry } from "three/examples/jsm/lines/LineSegmentsGeometry.js";
import type { Run } from "../data/run";
import { RUN_TINTS, bodyColour, colour } from "../ui/theme";
import { figure, segments } from "./figures";

/** Distance of planar bodies in depth, so that later ones cover earlier ones. */
const LAYER = 1e-4;
/** Number of bodies above which balls are coarse. */
const MANY = 150;
/** Number of bodies above which rims are thin: each wide rim costs a draw call with many vertices. */
const FAT_RIMS = 300;

interface Painted {
  body: number;
  fill: MeshBasicMaterial | MeshStandardMaterial | null;
  rim: LineMaterial | LineBasicMaterial | null;
}

export class Bodies {
  readonly group = new Group();
  private readonly figures: Group[] = [];
  private readonly painted: Painted[] = [];

  constructor(private readonly run: Run, private readonly ghost: number, size: number) {
    run.head.bodies.forEach((head, index) => {
      const body = new Group();
      for (const outline of head.outlines) {
        const drawn = figure(outline, run.spatial, run.head.bodies.length > MANY);
        if (drawn) this.add(body, index, drawn.fill, drawn.lines);
      }
      const rods = this.rods(index);
      if (rods.length > 0) this.add(body, index, null, rods, 4);
      if (run.moves(index) && !head.outlines.some((outline) => outline.kind !== "point") && rods.length === 0) {
        const dot = figure({ kind: "round", at: [0, 0, 0], radius: 0.02 * size }, run.spatial);
        if (dot) this.add(body, index, dot.fill, dot.lines);
      }
      body.position.z = run.spatial ? 0 : LAYER * size * index;
      this.figures.push(body);
      this.group.add(body);
    });
    this.paint();
  }

  /** A moving body without a shape of its own shows as rods from its centre to its joints. */
  private rods(index: number): number[] {
    const head = this.run.head.bodies[index]!;
    if (!this.run.moves(index) || head.outlines.length > 0) return [];
    const ends = this.run.head.links.flatMap((link) => [...(link.a === index ? [link.at_a] : []), ...(link.b === index ? [link.at_b] : [])]);
    return ends.filter((end) => end.every(Number.isFinite) && end.some((x) => x !== 0)).flatMap((end) => [0, 0, 0, ...end]);
  }

  private add(body: Group, index: number, fill: BufferGeometry | null, lines: number[], width = 1.75): void {
    const painted: Painted = { body: index, fill: null, rim: null };
    const solid = this.ghost === 0;
    if (fill) {
      painted.fill = this.run.spatial
        ? new MeshStandardMaterial({ roughness: 0.72, metalness: 0.02, flatShading: fill.type === "ConvexGeometry" || fill.type === "BufferGeometry" })
        : new MeshBasicMaterial({ side: DoubleSide });
      painted.fill.transparent = !solid;
      painted.fill.opacity = solid ? 1 : 0.22;
      painted.fill.depthWrite = solid;
      // Rims lie on their fills.
      painted.fill.polygonOffset = true;
      painted.fill.polygonOffsetFactor = painted.fill.polygonOffsetUnits = 1;
      const mesh = new Mesh(fill, painted.fill);
      mesh.castShadow = solid && this.run.spatial;
      mesh.receiveShadow = solid && this.run.spatial;
      body.add(mesh);
    }
    if (lines.length > 0) body.add(this.rim(painted, lines, width));
    this.painted.push(painted);
  }

  private rim(painted: Painted, lines: number[], width: number): LineSegments2 | LineSegments {
    const transparent = this.ghost > 0 || this.run.spatial;
    if (this.painted.length > FAT_RIMS || (this.run.spatial && width < 3)) {
      painted.rim = new LineBasicMaterial({ transparent, opacity: this.run.spatial ? 0.55 : 1 });
      return new LineSegments(segments(lines), painted.rim);
    }
    painted.rim = new LineMaterial({ linewidth: width, transparent, opacity: this.ghost > 0 ? 0.75 : 1, alphaToCoverage: false });
    return new LineSegments2(new LineSegmentsGeometry().setPositions(lines), painted.rim);
  }

  /** Takes the colours of the theme. */
  paint(): void {
    const card = colour("card");
    for (const { body, fill, rim } of this.painted) {
      const head = this.run.head.bodies[body]!;
      const own = this.ghost > 0 ? colour(RUN_TINTS[this.ghost % RUN_TINTS.length]!) : bodyColour(this.run.movingPlace(body), head.role === "kinematic");
      fill?.color.copy(this.run.spatial || this.ghost > 0 ? own : card.clone().lerp(own, 0.32));
      rim?.color.copy(this.run.spatial ? shade(own, card) : own);
    }
  }

  show(frame: number): void {
    this.figures.forEach((body, index) => {
      const z = body.position.z;
      this.run.pose(index, frame, body.position, body.quaternion);
      body.visible = [...body.position.toArray(), body.quaternion.x].every(Number.isFinite);
      if (!this.run.spatial) body.position.z = z;
    });
  }

  /** A point of a body, in the world. */
  place(body: number, at: readonly [number, number, number], out: Vector3): Vector3 {
    const figure = this.figures[body];
    out.set(...at);
    return figure ? out.applyQuaternion(figure.quaternion as Quaternion).add(figure.position) : out;
  }

  bodyAt(index: number): Group | undefined {
    return this.figures[index];
  }

  dispose(): void {
    this.group.traverse((object) => {
      const mesh = object as Mesh;
      mesh.geometry?.dispose();
      (mesh.material as Material | undefined)?.dispose();
    });
  }
}

/** Edges of solids: darker than the solid on a light page, lighter on a dark one. */
function shade(own: Color, card: Color): Color {
  const light = card.r + card.g + card.b > 1.5;
  return own.clone().lerp(light ? own.clone().multiplyScalar(0.25) : card.clone().setScalar(1), light ? 0.75 : 0.45);
}
