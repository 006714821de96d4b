// A recorded run: poses at every moment, and every recorded column.

import { Quaternion, Vector3 } from "three";
import type { BodyHead, ColumnHead, RunHead } from "./head";
import { type Numbers, Payload } from "./payload";

export enum Mode {
  Open = 0,
  Stick = 1,
  Slip = 2,
}

/** A contact at a moment: forces on the second body. */
export interface ContactView {
  label: number;
  mode: Mode;
  point: Vector3;
  /** From the first body to the second. */
  normal: Vector3;
  /** N. */
  normalForce: number;
  frictionForce: Vector3;
  friction: number;
}

/** A support point at a moment; its mode is open before the first step. */
export interface SupportPointView {
  mode: Mode;
  point: Vector3;
  force: Vector3;
}

const Z = new Vector3(0, 0, 1);
/** Friction above this fraction of its limit is at the limit, within the precision of 32-bit floats. */
const AT_LIMIT = 1 - 1e-5;

export class Run {
  readonly times: Float64Array;
  readonly stepBefore: Numbers;
  private readonly cache = new Map<string, Numbers>();
  private readonly places = new Map<string, ColumnHead>();
  private readonly contactPlaces = new Map<string, ColumnHead>();
  private readonly coordinates: (Numbers[] | null)[];
  private readonly movingPlaces: (number | null)[];
  /** Rows of the contact table in the order of moments, and where each moment starts. */
  private readonly rowsByFrame: Uint32Array;
  private readonly rowStart: Uint32Array;
  private readonly rowFrame: Numbers;
  /** Where the rows of each contact start. */
  readonly labelStart: Uint32Array;
  private readonly rowLabel: Uint32Array;

  constructor(readonly head: RunHead, private readonly payload: Payload) {
    this.times = payload.fine(head.time);
    this.stepBefore = payload.column(head.step_before);
    for (const column of head.columns) this.places.set(column.name, column);
    for (const column of head.contacts.columns) this.contactPlaces.set(column.name, column);
    this.coordinates = head.bodies.map((body) => this.coordinatesOf(body));
    let moving = 0;
    this.movingPlaces = this.coordinates.map((coordinates) => (coordinates ? moving++ : null));
    const rows = head.contacts.rows.reduce((sum, n) => sum + n, 0);
    this.labelStart = new Uint32Array(head.contacts.rows.length + 1);
    this.rowLabel = new Uint32Array(rows);
    head.contacts.rows.forEach((count, label) => {
      const start = this.labelStart[label]!;
      this.labelStart[label + 1] = start + count;
      this.rowLabel.fill(label, start, start + count);
    });
    this.rowFrame = payload.column(head.contacts.frame);
    [this.rowsByFrame, this.rowStart] = sortedByFrame(this.rowFrame, this.frames);
  }

  get frames(): number {
    return this.times.length;
  }

  get spatial(): boolean {
    return this.head.dimension === 3;
  }

  get end(): number {
    return this.times[this.frames - 1] ?? 0;
  }

  /** The last moment at or before a time. */
  frameAt(time: number): number {
    let [low, high] = [0, this.frames - 1];
    // Half of the rounding error of times in the page.
    const wanted = time + 1e-9 * Math.max(1, Math.abs(time));
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.times[middle]! <= wanted) low = middle;
      else high = middle - 1;
    }
    return Math.max(low, 0);
  }

  column(name: string): Numbers | null {
    const place = this.places.get(name);
    return place ? this.unpacked("c" + name, place) : null;
  }

  unit(name: string): string {
    return this.places.get(name)?.unit ?? "";
  }

  contactColumn(name: string): Numbers | null {
    const place = this.contactPlaces.get(name);
    return place ? this.unpacked("k" + name, place) : null;
  }

  /** Moments of the rows of the contact table. */
  get contactFrames(): Numbers {
    return this.rowFrame;
  }

  private unpacked(key: string, place: ColumnHead): Numbers {
    let values = this.cache.get(key);
    if (!values) {
      values = this.payload.column(place);
      this.cache.set(key, values);
    }
    return values;
  }

  private coordinatesOf(body: BodyHead): Numbers[] | null {
    const first = body.column;
    if (first === null) return null;
    const count = { "planar-particle": 2, planar: 3, particle: 3, free: 7, kinematic: this.spatial ? 7 : 3, fixed: 0 }[body.role];
    return this.head.columns.slice(first, first + count).map((column) => this.column(column.name)!);
  }

  /** Puts position and orientation of a body at a moment into the given objects. */
  pose(body: number, frame: number, position: Vector3, turn: Quaternion): void {
    const head = this.head.bodies[body];
    const q = this.coordinates[body];
    if (!head) return;
    // A recording that was truncated before its first row has initial poses.
    if (!q || this.frames === 0) {
      position.fromArray(head.position);
      const [w, x, y, z] = head.orientation;
      turn.set(x, y, z, w);
      return;
    }
    const at = (k: number): number => q[k]?.[frame] ?? 0;
    if (q.length === 7) {
      position.set(at(0), at(1), at(2));
      turn.set(at(4), at(5), at(6), at(3)).normalize();
    } else if (head.role === "particle") {
      position.set(at(0), at(1), at(2));
      turn.identity();
    } else {
      position.set(at(0), at(1), 0);
      turn.setFromAxisAngle(Z, q.length > 2 ? at(2) : 0);
    }
  }

  /** Place of a body among those that move; null for one that does not. */
  movingPlace(body: number): number | null {
    return this.movingPlaces[body] ?? null;
  }

  get movingCount(): number {
    return this.movingPlaces.filter((place) => place !== null).length;
  }

  moves(body: number): boolean {
    return this.coordinates[body] != null;
  }

  private vector(name: string, row: number, out: Vector3): Vector3 {
    const part = (axis: string): number => this.contactColumn(`${name}_${axis}`)?.[row] ?? 0;
    return out.set(part("x"), part("y"), part("z"));
  }

  /** The contacts of a moment. Impulses become forces by the length of the step. */
  contacts(frame: number): ContactView[] {
    const modes = this.modes();
    const step = this.stepBefore[frame] || this.head.step;
    const views: ContactView[] = [];
    for (let k = this.rowStart[frame] ?? 0; k < (this.rowStart[frame + 1] ?? 0); k++) {
      const row = this.rowsByFrame[k]!;
      views.push({
        label: this.rowLabel[row]!,
        mode: modes[row] as Mode,
        point: this.vector("point", row, new Vector3()),
        normal: this.vector("normal", row, new Vector3()),
        normalForce: (this.contactColumn("normal_impulse")?.[row] ?? 0) / step,
        frictionForce: this.vector("friction_impulse", row, new Vector3()).divideScalar(step),
        friction: this.contactColumn("friction")?.[row] ?? 0,
      });
    }
    return views;
  }

  private modes(): Numbers {
    let modes = this.cache.get("modes");
    if (!modes) this.cache.set("modes", (modes = this.payload.column(this.head.contacts.mode)));
    return modes;
  }

  /** The support points of all bodies at a moment. */
  supportPoints(frame: number): SupportPointView[] {
    const views: SupportPointView[] = [];
    const [position, turn] = [new Vector3(), new Quaternion()];
    const step = this.stepBefore[frame] || this.head.step;
    this.head.bodies.forEach((body, index) => {
      if (body.support_points.length === 0) return;
      this.pose(index, frame, position, turn);
      body.support_points.forEach((supportPoint, k) => {
        const impulse = (part: number): number => {
          const column = body.support_column === null ? undefined : this.head.columns[body.support_column + 3 * k + part];
          return (column && this.column(column.name)?.[frame]) ?? 0;
        };
        const force = new Vector3(impulse(0), impulse(1), 0).divideScalar(step);
        const slips = supportPoint.load > 0 && force.length() >= AT_LIMIT * supportPoint.friction * supportPoint.load;
        const mode = frame === 0 ? Mode.Open : slips ? Mode.Slip : Mode.Stick;
        views.push({ mode, point: new Vector3(...supportPoint.at).applyQuaternion(turn).add(position), force });
      });
    });
    return views;
  }

  /** Scale of force arrows: the 90 % quantile of the normal forces of loaded contacts, or the largest load of a support point. */
  usualForce(): number {
    const impulses = this.contactColumn("normal_impulse");
    const forces: number[] = [];
    if (impulses) {
      const every = Math.max(1, Math.floor(impulses.length / 20_000));
      for (let row = 0; row < impulses.length; row += every) {
        const force = impulses[row]! / (this.stepBefore[this.rowFrame[row]!] || this.head.step);
        if (Number.isFinite(force) && force > 0) forces.push(force);
      }
    }
    forces.sort((a, b) => a - b);
    const loads = this.head.bodies.flatMap((body) => body.support_points.map((supportPoint) => supportPoint.load * Math.max(supportPoint.friction, 0.1)));
    return forces[Math.floor(0.9 * forces.length)] ?? loads.reduce((a, b) => Math.max(a, b), 0);
  }
}

/** Counting sort of rows by moment. */
function sortedByFrame(rowFrame: Numbers, frames: number): [Uint32Array, Uint32Array] {
  const start = new Uint32Array(frames + 1);
  for (const frame of rowFrame) if (frame < frames) start[frame + 1]!++;
  for (let k = 0; k < frames; k++) start[k + 1]! += start[k]!;
  const next = start.slice();
  const rows = new Uint32Array(rowFrame.length);
  rowFrame.forEach((frame: number, row: number) => {
    if (frame < frames) rows[next[frame]!++] = row;
  });
  return [rows, start];
}
