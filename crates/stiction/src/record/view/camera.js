"use strict";
// Vectors are arrays of three numbers. A pose is { p, r } with r the three columns of the rotation.

const add = (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
const scaled = (a, s) => [a[0] * s, a[1] * s, a[2] * s];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const length = (a) => Math.hypot(a[0], a[1], a[2]);
const unit = (a) => scaled(a, 1 / (length(a) || 1));

function rotationOfQuaternion(w, x, y, z) {
  return [
    [1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)],
    [2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)],
    [2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)],
  ];
}

function rotationOfAngle(angle) {
  const c = Math.cos(angle), s = Math.sin(angle);
  return [[c, s, 0], [-s, c, 0], [0, 0, 1]];
}

const turned = (r, v) => add(add(scaled(r[0], v[0]), scaled(r[1], v[1])), scaled(r[2], v[2]));
const placed = (pose, v) => add(pose.p, turned(pose.r, v));

/** The pose of a body at a frame. */
function poseOf(scene, body, frame) {
  if (body.track === undefined) {
    const [x, y, z, qw, qx, qy, qz] = body.pose;
    return { p: [x, y, z], r: rotationOfQuaternion(qw, qx, qy, qz) };
  }
  const q = frame.poses;
  if (scene.dimension === 2) {
    const k = 3 * body.track;
    return { p: [q[k], q[k + 1], 0], r: rotationOfAngle(q[k + 2]) };
  }
  const k = 7 * body.track;
  return { p: [q[k], q[k + 1], q[k + 2]], r: rotationOfQuaternion(q[k + 3], q[k + 4], q[k + 5], q[k + 6]) };
}

/** How far the figures of a body reach from its origin; half-spaces do not count. */
function reach(body) {
  const far = (o) => {
    switch (o.kind) {
      case "round": return length(o.at) + o.radius;
      case "capsule": return Math.max(length(o.from), length(o.to)) + o.radius;
      case "ellipse": return length(o.at) + Math.max(length(o.first), length(o.second));
      case "polygon": case "polyhedron": return Math.max(...o.vertices.map(length));
      case "point": return length(o.at);
      default: return 0;
    }
  };
  return Math.max(0, ...body.outlines.map(far));
}

/** The box that holds everything that moves, and what is fixed and bounded. */
function boundsOf(run) {
  const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
  const include = (p, r) => {
    for (let i = 0; i < 3; i++) {
      low[i] = Math.min(low[i], p[i] - r);
      high[i] = Math.max(high[i], p[i] + r);
    }
  };
  for (const body of run.scene.bodies) {
    const r = reach(body);
    if (body.track === undefined) {
      if (r > 0) include(poseOf(run.scene, body, null).p, r);
    } else {
      for (const frame of run.frames) include(poseOf(run.scene, body, frame).p, r);
    }
  }
  for (const link of run.scene.links) {
    for (const [index, at] of [[link.a, link.at_a], [link.b, link.at_b]]) {
      const body = run.scene.bodies[index];
      if (body.track === undefined) include(placed(poseOf(run.scene, body, null), at), 0);
    }
  }
  for (const frame of run.frames) for (const contact of frame.contacts) include(contact.at, 0);
  if (!(low[0] <= high[0])) return { centre: [0, 0, 0], size: [2, 2, 2], low: [-1, -1, -1] };
  const size = low.map((x, i) => Math.max(high[i] - x, 1e-9));
  return { centre: low.map((x, i) => (x + high[i]) / 2), size, low };
}

/** An orthographic camera: the plane is seen from above, space from a point that can be moved around it. */
class Camera {
  constructor(dimension, bounds) {
    this.spatial = dimension === 3;
    this.bounds = bounds;
    this.reset();
  }

  reset() {
    this.azimuth = this.spatial ? -1.05 : -Math.PI / 2;
    this.elevation = this.spatial ? 0.38 : Math.PI / 2;
    this.zoom = 1;
    this.target = this.bounds.centre.slice();
    this.aim();
  }

  aim() {
    const ca = Math.cos(this.azimuth), sa = Math.sin(this.azimuth);
    const ce = Math.cos(this.elevation), se = Math.sin(this.elevation);
    this.right = [-sa, ca, 0];
    this.towards = [ce * ca, ce * sa, se];
    this.up = cross(this.towards, this.right);
  }

  /** Fits the picture: the bounds seen along the axes of the screen, with air around them. */
  resize(width, height) {
    this.width = width;
    this.height = height;
    const seen = (axis) => this.bounds.size.reduce((sum, s, i) => sum + Math.abs(axis[i]) * s, 0);
    const air = 1.18;
    this.scale = this.zoom * Math.min(width / (air * seen(this.right) || 1), height / (air * seen(this.up) || 1));
  }

  project(p) {
    const d = add(p, scaled(this.target, -1));
    return [this.width / 2 + this.scale * dot(d, this.right), this.height / 2 - this.scale * dot(d, this.up), dot(d, this.towards)];
  }

  /** A direction on the screen, in pixels per metre of it. */
  direction(v) {
    return [this.scale * dot(v, this.right), -this.scale * dot(v, this.up)];
  }

  drag(dx, dy, pan) {
    if (this.spatial && !pan) {
      this.azimuth -= dx * 0.008;
      this.elevation = Math.max(-1.5, Math.min(1.5, this.elevation + dy * 0.008));
      this.aim();
    } else {
      this.target = add(this.target, add(scaled(this.right, -dx / this.scale), scaled(this.up, dy / this.scale)));
    }
  }

  magnify(factor) {
    this.zoom = Math.max(0.05, Math.min(200, this.zoom * factor));
  }
}
