// Half-spaces: a hatched line in the plane, a floor with a grid in space. Planar scenes have a grid behind everything.

import {
  BufferGeometry, CircleGeometry, DoubleSide, Float32BufferAttribute, Group, LineBasicMaterial, LineSegments, Mesh, MeshBasicMaterial,
  MeshStandardMaterial, PlaneGeometry, Quaternion, type Sphere, Vector3,
} from "three";
import type { Triple } from "../data/head";
import type { Run } from "../data/run";
import { colour } from "../ui/theme";
import { segments } from "./figures";

/** The nearest of 1, 2, 5 times a power of ten, at least as large. */
export function roundNumber(x: number): number {
  const power = Math.pow(10, Math.floor(Math.log10(x)));
  const digit = x / power;
  return (digit <= 1 ? 1 : digit <= 2 ? 2 : digit <= 5 ? 5 : 10) * power;
}

const UP = new Vector3(0, 0, 1);

export class Ground {
  readonly group = new Group();
  private readonly fills: (MeshBasicMaterial | MeshStandardMaterial)[] = [];
  private readonly lines: LineBasicMaterial[] = [];
  private readonly surfaces: LineBasicMaterial[] = [];
  private readonly grid: LineBasicMaterial[] = [];
  private readonly moving: { body: number; object: Group }[] = [];

  constructor(private readonly run: Run, private readonly sphere: Sphere) {
    let floors = 0;
    run.head.bodies.forEach((body, index) => {
      for (const outline of body.outlines) {
        if (outline.kind !== "half-space" || ![...outline.at, ...outline.normal].every(Number.isFinite)) continue;
        floors++;
        const object = new Group();
        object.add(run.spatial ? this.floor(outline.at, outline.normal, index) : this.line(outline.at, outline.normal, index));
        this.moving.push({ body: index, object });
        this.group.add(object);
      }
    });
    if (!run.spatial) this.group.add(this.planarGrid());
    else if (floors === 0) this.group.add(this.lattice(new Vector3(sphere.center.x, sphere.center.y, sphere.center.z - sphere.radius), UP));
    this.paint();
  }

  /** The point of the surface nearest to the scene, in the frame of the body. */
  private foot(at: Triple, normal: Vector3, body: number): Vector3 {
    const [position, turn] = [new Vector3(), new Quaternion()];
    this.run.pose(body, 0, position, turn);
    const centre = this.sphere.center.clone().sub(position).applyQuaternion(turn.clone().invert());
    return centre.addScaledVector(normal, new Vector3(...at).sub(centre).dot(normal));
  }

  private line(at: Triple, direction: Triple, body: number): Group {
    const normal = new Vector3(...direction).normalize();
    const along = new Vector3(-normal.y, normal.x, 0);
    const centre = this.foot(at, normal, body);
    const far = 30 * this.sphere.radius;
    const spacing = roundNumber(this.sphere.radius / 18);
    const depth = 1.4 * spacing;
    const hatch: number[] = [];
    for (let s = -far; s < far; s += spacing) {
      const top = centre.clone().addScaledVector(along, s);
      const bottom = top.clone().addScaledVector(along, -depth).addScaledVector(normal, -depth);
      hatch.push(...top.toArray(), ...bottom.toArray());
    }
    const [left, right] = [-far, far].map((s) => centre.clone().addScaledVector(along, s));
    const group = new Group();
    this.fills.push(new MeshBasicMaterial({ side: DoubleSide, depthWrite: false, transparent: true, opacity: 0.5 }));
    const fill = new Mesh(new PlaneGeometry(2 * far, far).translate(0, -far / 2, 0), this.fills.at(-1)!);
    fill.position.copy(centre);
    fill.quaternion.setFromUnitVectors(new Vector3(0, 1, 0), normal);
    fill.renderOrder = -3;
    this.lines.push(new LineBasicMaterial());
    this.surfaces.push(new LineBasicMaterial());
    group.add(fill, new LineSegments(segments(hatch), this.lines.at(-1)!));
    group.add(new LineSegments(segments([...left!.toArray(), ...right!.toArray()]), this.surfaces.at(-1)!));
    group.position.z = -1e-3 * this.sphere.radius;
    return group;
  }

  private floor(at: Triple, direction: Triple, body: number): Group {
    const normal = new Vector3(...direction).normalize();
    const centre = this.foot(at, normal, body);
    const group = new Group();
    this.fills.push(new MeshStandardMaterial({ roughness: 0.95, metalness: 0, polygonOffset: true, polygonOffsetFactor: 2, polygonOffsetUnits: 2 }));
    const disc = new Mesh(new CircleGeometry(12 * this.sphere.radius, 96), this.fills.at(-1)!);
    disc.receiveShadow = true;
    disc.position.copy(centre);
    disc.quaternion.setFromUnitVectors(UP, normal);
    group.add(disc, this.lattice(centre, normal));
    return group;
  }

  /** Square lines of round spacing; fog takes them in the distance. */
  private lattice(centre: Vector3, normal: Vector3): LineSegments {
    const spacing = roundNumber(this.sphere.radius / 5);
    const n = 40;
    const numbers: number[] = [];
    for (let i = -n; i <= n; i++) {
      // In segments: some drivers clip lines incorrectly that extend behind the camera.
      for (let j = -n; j < n; j++) {
        numbers.push(i * spacing, j * spacing, 0, i * spacing, (j + 1) * spacing, 0);
        numbers.push(j * spacing, i * spacing, 0, (j + 1) * spacing, i * spacing, 0);
      }
    }
    const geometry = new BufferGeometry().setAttribute("position", new Float32BufferAttribute(numbers, 3));
    this.grid.push(new LineBasicMaterial());
    const lines = new LineSegments(geometry, this.grid.at(-1)!);
    const snapped = centre.clone();
    if (Math.abs(normal.z) > 0.999) {
      snapped.x = Math.round(centre.x / spacing) * spacing;
      snapped.y = Math.round(centre.y / spacing) * spacing;
    }
    lines.position.copy(snapped);
    lines.quaternion.setFromUnitVectors(UP, normal);
    return lines;
  }

  private planarGrid(): LineSegments {
    const lines = this.lattice(this.sphere.center, UP);
    lines.position.z = -0.01 * this.sphere.radius;
    lines.renderOrder = -4;
    return lines;
  }

  paint(): void {
    const spatial = this.run.spatial;
    for (const fill of this.fills) fill.color.copy(spatial ? colour("floor") : colour("ground"));
    for (const line of this.lines) line.color.copy(colour("ground-line"));
    for (const line of this.surfaces) line.color.copy(colour("ground-ink"));
    for (const line of this.grid) line.color.copy(colour(spatial ? "floor-line" : "grid"));
  }

  show(frame: number): void {
    for (const { body, object } of this.moving) this.run.pose(body, frame, object.position, object.quaternion);
  }
}
