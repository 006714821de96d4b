// Past paths of the centres of moving bodies.

import { BufferGeometry, Float32BufferAttribute, Group, Line, LineBasicMaterial, Quaternion, Vector3 } from "three";
import type { Run } from "../data/run";
import { bodyColour } from "../ui/theme";

/** Largest number of points of a trail. */
const POINTS = 3000;
/** Bodies with a trail. */
const BODIES = 200;

export class Trails {
  readonly group = new Group();
  private readonly trails: { body: number; line: Line<BufferGeometry, LineBasicMaterial> }[] = [];
  private readonly every: number;
  private made = false;
  private frame = 0;

  constructor(private readonly run: Run) {
    this.every = Math.max(1, Math.ceil(run.frames / POINTS));
    this.group.visible = false;
  }

  set visible(visible: boolean) {
    this.group.visible = visible;
    if (visible && !this.made) this.make();
    this.show(this.frame);
  }

  private make(): void {
    this.made = true;
    const [position, turn] = [new Vector3(), new Quaternion()];
    const bodies = this.run.head.bodies.map((_, body) => body).filter((body) => this.run.moves(body) && this.run.head.bodies[body]!.role !== "kinematic");
    for (const body of bodies.slice(0, BODIES)) {
      const points: number[] = [];
      for (let frame = 0; frame < this.run.frames; frame += this.every) {
        this.run.pose(body, frame, position, turn);
        // Positions that are not finite repeat the previous point.
        const place = position.toArray();
        points.push(...(place.every(Number.isFinite) ? place : points.length > 0 ? points.slice(-3) : [0, 0, 0]));
      }
      const geometry = new BufferGeometry().setAttribute("position", new Float32BufferAttribute(points, 3));
      const line = new Line(geometry, new LineBasicMaterial({ transparent: true, opacity: 0.7, depthTest: this.run.spatial }));
      line.frustumCulled = false;
      line.renderOrder = 5;
      this.trails.push({ body, line });
      this.group.add(line);
    }
    this.paint();
  }

  paint(): void {
    for (const { body, line } of this.trails) line.material.color.copy(bodyColour(this.run.movingPlace(body), false));
  }

  show(frame: number): void {
    this.frame = frame;
    for (const { line } of this.trails) line.geometry.setDrawRange(0, Math.floor(frame / this.every) + 1);
  }
}
