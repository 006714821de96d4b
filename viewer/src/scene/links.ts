// Joints, springs and dampers.

import { Group, LineBasicMaterial, Vector3 } from "three";
import { Line2 } from "three/examples/jsm/lines/Line2.js";
import { LineGeometry } from "three/examples/jsm/lines/LineGeometry.js";
import { LineMaterial } from "three/examples/jsm/lines/LineMaterial.js";
import type { LinkHead } from "../data/head";
import type { Run } from "../data/run";
import { colour } from "../ui/theme";
import type { Bodies } from "./bodies";
import { Marks } from "./marks";

const X = new Vector3(1, 0, 0);

interface Drawn {
  link: LinkHead;
  line: Line2;
}

export class Links {
  readonly group = new Group();
  private readonly joints: Marks;
  private readonly drawn: Drawn[] = [];
  private readonly materials: (LineMaterial | LineBasicMaterial)[] = [];

  constructor(private readonly run: Run, private readonly bodies: Bodies, private readonly radius: number) {
    this.joints = new Marks(this.group, "joint", "ink", 12);
    const shapes = { spring: { points: run.spatial ? coil() : zigzag(), width: 1.75 }, damper: { points: [0, 0, 0, 1, 0, 0], width: 5 }, distance: { points: [0, 0, 0, 1, 0, 0], width: 2 } };
    for (const link of run.head.links) {
      const shape = shapes[link.kind as keyof typeof shapes];
      if (!shape) continue;
      const material = new LineMaterial({ linewidth: shape.width, transparent: true, opacity: link.kind === "damper" ? 0.35 : 1 });
      const line = new Line2(new LineGeometry().setPositions(shape.points), material);
      this.materials.push(material);
      this.drawn.push({ link, line });
      this.group.add(line);
    }
    this.paint();
  }

  paint(): void {
    for (const material of this.materials) material.color.copy(colour("soft"));
    this.joints.paint();
  }

  scale(ratio: number): void {
    this.joints.scale(0.8 * ratio);
  }

  /** Bodies must have been put in their places. */
  show(): void {
    const [a, b] = [new Vector3(), new Vector3()];
    for (const { link, line } of this.drawn) {
      this.bodies.place(link.a, link.at_a, a);
      this.bodies.place(link.b, link.at_b, b);
      const along = b.clone().sub(a);
      const length = along.length();
      line.visible = length > 0 && Number.isFinite(length);
      if (!line.visible) continue;
      line.position.copy(a);
      line.quaternion.setFromUnitVectors(X, along.divideScalar(length));
      const width = 0.05 * this.radius;
      line.scale.set(length, width, width);
    }
    this.joints.clear();
    for (const link of this.run.head.links) {
      const ends = link.kind === "spring" || link.kind === "damper" || link.kind === "distance";
      if (ends || link.kind === "fixed") continue;
      this.joints.add(this.bodies.place(link.b, link.at_b, a));
    }
    this.joints.finish();
  }
}

/** A zigzag from 0 to 1 along x. */
function zigzag(): number[] {
  const points = [0, 0, 0, 0.1, 0, 0];
  for (let k = 1; k < 14; k++) points.push(0.1 + (0.8 * k) / 14, k % 2 ? 1 : -1, 0);
  return [...points, 0.9, 0, 0, 1, 0, 0];
}

/** A coil from 0 to 1 along x. */
function coil(): number[] {
  const points = [0, 0, 0, 0.1, 0, 0];
  for (let k = 0; k <= 128; k++) {
    const angle = (2 * Math.PI * 8 * k) / 128;
    points.push(0.1 + (0.8 * k) / 128, Math.sin(angle), Math.cos(angle));
  }
  return [...points, 0.9, 0, 0, 1, 0, 0];
}
