// The frames of moving bodies: x red, y green, z blue; x is also the longest and z the shortest.

import { BufferGeometry, Float32BufferAttribute, Group, LineBasicMaterial, LineSegments } from "three";
import type { Run } from "../data/run";
import type { Bodies } from "./bodies";

export class Frames {
  readonly group = new Group();
  private readonly triads: { body: number; triad: LineSegments }[] = [];

  constructor(run: Run, private readonly bodies: Bodies, radius: number) {
    this.group.visible = false;
    const axes = run.spatial ? 3 : 2;
    const lengths = [0.13, 0.11, 0.09].map((share) => share * radius);
    const ends = [[lengths[0]!, 0, 0], [0, lengths[1]!, 0], [0, 0, lengths[2]!]].slice(0, axes);
    const tints = [[0.86, 0.2, 0.18], [0.2, 0.62, 0.25], [0.2, 0.42, 0.86]].slice(0, axes);
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", new Float32BufferAttribute(ends.flatMap((end) => [0, 0, 0, ...end]), 3));
    geometry.setAttribute("color", new Float32BufferAttribute(tints.flatMap((tint) => [...tint, ...tint]), 3));
    const material = new LineBasicMaterial({ vertexColors: true, depthTest: false, transparent: true, fog: false });
    run.head.bodies.forEach((_, body) => {
      if (!run.moves(body)) return;
      const triad = new LineSegments(geometry, material);
      triad.renderOrder = 15;
      this.triads.push({ body, triad });
      this.group.add(triad);
    });
  }

  /** Bodies must have been put in their places. */
  show(): void {
    if (!this.group.visible) return;
    for (const { body, triad } of this.triads) {
      const figure = this.bodies.bodyAt(body);
      if (!figure) continue;
      triad.visible = figure.visible;
      triad.position.copy(figure.position);
      triad.quaternion.copy(figure.quaternion);
    }
  }
}
