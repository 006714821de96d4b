// Contacts and support points: a mark for the state, arrows for the forces on the second body.

import { type Color, ConeGeometry, CylinderGeometry, Group, Matrix4, MeshBasicMaterial, Quaternion, Vector3 } from "three";
import { Mode, type Run } from "../data/run";
import { colour } from "../ui/theme";
import { Marks } from "./marks";
import { Pool } from "./pool";

/** Largest length of an arrow, relative to that of the usual force. */
const LONGEST = 2.6;
/** Length of the arrow of the usual force, as a fraction of the radius of the scene. */
const USUAL_LENGTH = 0.34;
const Y = new Vector3(0, 1, 0);

export class Contacts {
  readonly group = new Group();
  private readonly forces = new Group();
  private readonly marks: [Marks, Marks, Marks];
  private readonly supportPoints: Marks;
  private readonly shafts: Pool;
  private readonly heads: Pool;
  private readonly usual: number;
  private tints: { normal: Color; friction: Color };
  private frame = 0;
  showMarks = true;
  showForces = true;
  /** Scale of arrows, 1 by default. */
  stretch = 1;

  constructor(private readonly run: Run, private readonly radius: number) {
    this.group.add(this.forces);
    const material = new MeshBasicMaterial({ depthTest: false, transparent: true, fog: false });
    // Both stand on the origin and point along y, one metre long.
    this.shafts = new Pool(this.forces, new CylinderGeometry(1, 1, 1, 10).translate(0, 0.5, 0), material, 20);
    this.heads = new Pool(this.forces, new ConeGeometry(1, 1, 16).translate(0, -0.5, 0), material, 20);
    this.supportPoints = new Marks(this.group, "diamond", "soft", 21);
    this.marks = [new Marks(this.group, "ring", "open", 22), new Marks(this.group, "square", "stick", 23), new Marks(this.group, "triangle", "slip", 24)];
    this.usual = run.usualForce();
    this.tints = { normal: colour("normal-force"), friction: colour("friction-force") };
  }

  get hasForces(): boolean {
    return this.usual > 0;
  }

  paint(): void {
    this.tints = { normal: colour("normal-force"), friction: colour("friction-force") };
    for (const marks of [...this.marks, this.supportPoints]) marks.paint();
  }

  scale(ratio: number): void {
    for (const marks of [...this.marks, this.supportPoints]) marks.scale(ratio);
  }

  show(frame: number): void {
    this.frame = frame;
  }

  /** Draws the moment; arrows keep their thickness on the screen, whose pixel is so many metres wide. */
  draw(pixel: number): void {
    for (const list of [...this.marks, this.supportPoints, this.shafts, this.heads]) list.clear();
    for (const contact of this.run.contacts(this.frame)) {
      if (this.showMarks) this.marks[contact.mode]?.add(contact.point);
      if (!this.showForces || contact.mode === Mode.Open) continue;
      this.arrow(contact.point, contact.normal.multiplyScalar(contact.normalForce), this.tints.normal, pixel);
      this.arrow(contact.point, contact.frictionForce, this.tints.friction, pixel);
    }
    for (const supportPoint of this.run.supportPoints(this.frame)) {
      if (this.showMarks) (supportPoint.mode === Mode.Open ? this.supportPoints : this.marks[supportPoint.mode])?.add(supportPoint.point);
      if (this.showForces) this.arrow(supportPoint.point, supportPoint.force, this.tints.friction, pixel);
    }
    for (const list of [...this.marks, this.supportPoints, this.shafts, this.heads]) list.finish();
  }

  private arrow(at: Vector3, force: Vector3, tint: Color, pixel: number): void {
    const size = force.length();
    if (!(size > 0) || !(this.usual > 0) || !at.toArray().every(Number.isFinite)) return;
    const length = this.stretch * USUAL_LENGTH * this.radius * Math.min(size / this.usual, LONGEST);
    if (length < 3 * pixel) return;
    const turn = new Quaternion().setFromUnitVectors(Y, force.clone().divideScalar(size));
    const head = Math.min(11 * pixel, 0.5 * length);
    const thick = Math.min(1.5 * pixel, 0.12 * length);
    this.shafts.add(new Matrix4().compose(at, turn, new Vector3(thick, length - 0.9 * head, thick)), tint);
    const tip = at.clone().addScaledVector(force, length / size);
    this.heads.add(new Matrix4().compose(tip, turn, new Vector3(0.38 * head, head, 0.38 * head)), tint);
  }
}
