// Draws the scene: ground, bodies, joints, springs, contacts.

/** The colours of the style sheet as they are now, light or dark. */
function palette() {
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue("--" + name).trim();
  const names = ["card", "ink", "soft", "line", "grid", "ground", "ground-ink", "stick", "slip", "fixed", "kinetic", "potential", "total", "accent"];
  const found = Object.fromEntries(names.map((name) => [name, colour(name)]));
  found.bodies = [0, 1, 2, 3, 4, 5].map((k) => colour("body-" + k));
  return found;
}

function bodyColour(colours, body) {
  return body.track === undefined ? colours.fixed : colours.bodies[body.track % colours.bodies.length];
}

/** A round number near x: 1, 2 or 5 times a power of ten. */
function roundNumber(x) {
  const power = Math.pow(10, Math.floor(Math.log10(x)));
  const rest = x / power;
  return power * (rest < 1.5 ? 1 : rest < 3.5 ? 2 : rest < 7.5 ? 5 : 10);
}

class Stage {
  constructor(run, camera) {
    this.run = run;
    this.camera = camera;
    const forces = run.frames.flatMap((frame) => frame.contacts.map((contact) => contact.push / run.scene.step));
    forces.sort((a, b) => a - b);
    // The median, not the largest: one impact must not shrink every resting force to nothing.
    this.usualForce = forces.length ? forces[Math.floor(forces.length / 2)] || forces[forces.length - 1] : 0;
    this.trails = run.scene.bodies.filter((body) => body.track !== undefined).length <= 12;
  }

  draw(context, colours, number) {
    const { scene, frames } = this.run;
    const frame = frames[number];
    this.g = context;
    this.colours = colours;
    context.clearRect(0, 0, this.camera.width, this.camera.height);
    context.lineJoin = context.lineCap = "round";
    const poses = scene.bodies.map((body) => poseOf(scene, body, frame));
    if (!this.camera.spatial) this.grid();
    scene.bodies.forEach((body, k) => body.outlines.filter((o) => o.kind === "half-space").forEach((o) => this.ground(o, poses[k])));
    if (this.trails) this.trail(number);
    const order = scene.bodies.map((body, k) => k);
    const depth = poses.map((pose) => this.camera.project(pose.p)[2]);
    order.sort((a, b) => (scene.bodies[a].track === undefined ? 0 : 1) - (scene.bodies[b].track === undefined ? 0 : 1) || depth[a] - depth[b]);
    for (const k of order) this.body(scene.bodies[k], poses[k]);
    for (const link of scene.links) this.link(link, poses);
    for (const contact of frame.contacts) this.contact(contact);
    this.ruler();
  }

  grid() {
    const { camera, g } = this;
    const spacing = roundNumber(90 / camera.scale);
    g.strokeStyle = this.colours.grid;
    g.lineWidth = 1;
    g.beginPath();
    const [x0, y0] = [camera.target[0] - camera.width / 2 / camera.scale, camera.target[1] - camera.height / 2 / camera.scale];
    for (let x = Math.ceil(x0 / spacing) * spacing; camera.project([x, 0, 0])[0] < camera.width; x += spacing) {
      const sx = Math.round(camera.project([x, 0, 0])[0]) + 0.5;
      g.moveTo(sx, 0);
      g.lineTo(sx, camera.height);
    }
    for (let y = Math.ceil(y0 / spacing) * spacing; camera.project([0, y, 0])[1] > 0; y += spacing) {
      const sy = Math.round(camera.project([0, y, 0])[1]) + 0.5;
      g.moveTo(0, sy);
      g.lineTo(camera.width, sy);
    }
    g.stroke();
  }

  /** A bar of a round length, so that sizes can be read off. */
  ruler() {
    const { camera, g } = this;
    const metres = roundNumber(100 / camera.scale);
    const [x, y, w] = [14, camera.height - 14, metres * camera.scale];
    g.strokeStyle = g.fillStyle = this.colours.soft;
    g.lineWidth = 1.5;
    g.beginPath();
    g.moveTo(x, y - 4);
    g.lineTo(x, y);
    g.lineTo(x + w, y);
    g.lineTo(x + w, y - 4);
    g.stroke();
    g.font = "12px ui-sans-serif, system-ui, sans-serif";
    g.textAlign = "left";
    g.textBaseline = "bottom";
    g.fillText(lengthText(metres), x + 4, y - 3);
  }

  ground(outline, pose) {
    const at = placed(pose, outline.at), normal = turned(pose.r, outline.normal);
    if (this.camera.spatial) this.groundPlane(at, normal);
    else this.groundLine(at, normal);
  }

  /** The surface as a line, hatched on the solid side. */
  groundLine(at, normal) {
    const { camera, g, colours } = this;
    const along = [-normal[1], normal[0], 0];
    const far = (camera.width + camera.height) / camera.scale;
    const centre = add(camera.target, scaled(normal, dot(add(at, scaled(camera.target, -1)), normal)));
    const ends = [-far, far].map((s) => camera.project(add(centre, scaled(along, s))));
    const depth = 26;
    const [dx, dy] = unit([...camera.direction(scaled(normal, -1)), 0]);
    g.save();
    g.beginPath();
    g.moveTo(...ends[0].slice(0, 2));
    g.lineTo(...ends[1].slice(0, 2));
    g.lineTo(ends[1][0] + depth * dx, ends[1][1] + depth * dy);
    g.lineTo(ends[0][0] + depth * dx, ends[0][1] + depth * dy);
    g.clip();
    g.strokeStyle = colours.ground;
    g.lineWidth = 1;
    g.beginPath();
    const [tx, ty] = unit([ends[1][0] - ends[0][0], ends[1][1] - ends[0][1], 0]);
    const span = Math.hypot(ends[1][0] - ends[0][0], ends[1][1] - ends[0][1]);
    for (let s = 0; s < span + depth; s += 9) {
      const [x, y] = [ends[0][0] + s * tx, ends[0][1] + s * ty];
      g.moveTo(x, y);
      g.lineTo(x + depth * (dx - tx), y + depth * (dy - ty));
    }
    g.stroke();
    g.restore();
    g.strokeStyle = colours["ground-ink"];
    g.lineWidth = 1.5;
    g.beginPath();
    g.moveTo(...ends[0].slice(0, 2));
    g.lineTo(...ends[1].slice(0, 2));
    g.stroke();
  }

  /** The surface as a patch of grid under the scene. */
  groundPlane(at, normal) {
    const { camera, g, colours } = this;
    const { centre, size } = camera.bounds;
    const first = unit(cross(Math.abs(normal[0]) < 0.9 ? [1, 0, 0] : [0, 1, 0], normal)), second = cross(normal, first);
    const foot = add(centre, scaled(normal, dot(add(at, scaled(centre, -1)), normal)));
    const half = 0.75 * Math.max(...size);
    const spacing = roundNumber(half / 6), n = Math.ceil(half / spacing);
    const point = (i, j) => camera.project(add(foot, add(scaled(first, i * spacing), scaled(second, j * spacing)))).slice(0, 2);
    g.beginPath();
    [[-n, -n], [n, -n], [n, n], [-n, n]].forEach(([i, j], k) => (k ? g.lineTo(...point(i, j)) : g.moveTo(...point(i, j))));
    g.closePath();
    g.fillStyle = colours.grid;
    g.globalAlpha = 0.55;
    g.fill();
    g.globalAlpha = 0.75;
    g.strokeStyle = colours.ground;
    g.lineWidth = 1;
    g.beginPath();
    for (let i = -n; i <= n; i++) {
      g.moveTo(...point(i, -n));
      g.lineTo(...point(i, n));
      g.moveTo(...point(-n, i));
      g.lineTo(...point(n, i));
    }
    g.stroke();
    g.globalAlpha = 1;
  }

  /** Where the centres of the moving bodies have been. */
  trail(number) {
    const { scene, frames } = this.run;
    const g = this.g;
    g.lineWidth = 1.25;
    for (const body of scene.bodies) {
      if (body.track === undefined || body.role === "kinematic") continue;
      g.strokeStyle = bodyColour(this.colours, body);
      g.globalAlpha = 0.4;
      g.beginPath();
      for (let k = 0; k <= number; k++) {
        const [x, y] = this.camera.project(poseOf(scene, body, frames[k]).p);
        if (k) g.lineTo(x, y);
        else g.moveTo(x, y);
      }
      g.stroke();
    }
    g.globalAlpha = 1;
  }

  body(body, pose) {
    const colour = bodyColour(this.colours, body);
    if (body.track !== undefined && body.outlines.length === 0) this.dot(this.camera.project(pose.p), 3.5, colour);
    for (const outline of body.outlines) this.outline(outline, pose, colour);
  }

  outline(o, pose, colour) {
    const { camera, g } = this;
    const at = (p) => camera.project(placed(pose, p));
    switch (o.kind) {
      case "point":
        return this.dot(at(o.at), 4, colour);
      case "round": {
        const [x, y] = at(o.at);
        g.beginPath();
        g.arc(x, y, o.radius * camera.scale, 0, 2 * Math.PI);
        this.paint(colour);
        return camera.spatial ? this.meridians(o, pose, colour) : this.spoke(o, pose, colour);
      }
      case "capsule":
        this.capsule(at(o.from), at(o.to), o.radius * camera.scale);
        return this.paint(colour);
      case "ellipse": {
        g.beginPath();
        for (let k = 0; k < 72; k++) {
          const s = (k / 36) * Math.PI;
          const [x, y] = at(add(o.at, add(scaled(o.first, Math.cos(s)), scaled(o.second, Math.sin(s)))));
          if (k) g.lineTo(x, y);
          else g.moveTo(x, y);
        }
        g.closePath();
        this.paint(colour);
        return this.line([at(o.at), at(add(o.at, o.first))], colour, 1.25);
      }
      case "polygon":
        this.polygon(o.vertices.map(at));
        return this.paint(colour);
      case "polyhedron": {
        const points = o.vertices.map(at), rim = hull(points);
        this.polygon(rim);
        this.paint(colour);
        // Behind the middle and inside the rim: seen through the body.
        const middle = points.reduce((sum, p) => sum + p[2], 0) / points.length;
        const hidden = points.map((p) => p[2] < middle && !rim.includes(p));
        for (const [i, j] of o.edges) this.line([points[i], points[j]], colour, 1.1, hidden[i] || hidden[j] ? 0.25 : 0.85);
      }
    }
  }

  /** Fills the current path with a tint that hides what is behind, and draws its rim. */
  paint(colour) {
    const g = this.g;
    g.fillStyle = this.colours.card;
    g.globalAlpha = 0.82;
    g.fill();
    g.globalAlpha = 0.3;
    g.fillStyle = colour;
    g.fill();
    g.globalAlpha = 1;
    g.strokeStyle = colour;
    g.lineWidth = 1.75;
    g.stroke();
  }

  line(points, colour, width, alpha = 1) {
    const g = this.g;
    g.globalAlpha = alpha;
    g.strokeStyle = colour;
    g.lineWidth = width;
    g.beginPath();
    points.forEach(([x, y], k) => (k ? g.lineTo(x, y) : g.moveTo(x, y)));
    g.stroke();
    g.globalAlpha = 1;
  }

  dot([x, y], radius, colour) {
    this.g.fillStyle = colour;
    this.g.beginPath();
    this.g.arc(x, y, radius, 0, 2 * Math.PI);
    this.g.fill();
  }

  polygon(points) {
    const g = this.g;
    g.beginPath();
    points.forEach(([x, y], k) => (k ? g.lineTo(x, y) : g.moveTo(x, y)));
    g.closePath();
  }

  capsule([x0, y0], [x1, y1], r) {
    const angle = Math.atan2(y1 - y0, x1 - x0);
    this.g.beginPath();
    this.g.arc(x0, y0, r, angle + Math.PI / 2, angle - Math.PI / 2);
    this.g.arc(x1, y1, r, angle - Math.PI / 2, angle + Math.PI / 2);
    this.g.closePath();
  }

  spoke(o, pose, colour) {
    const at = (p) => this.camera.project(placed(pose, p));
    this.line([at(o.at), at(add(o.at, [o.radius, 0, 0]))], colour, 1.5);
  }

  /** Two great circles that turn with the ball, drawn where they face us. */
  meridians(o, pose, colour) {
    for (const [u, v] of [[[1, 0, 0], [0, 1, 0]], [[1, 0, 0], [0, 0, 1]]]) {
      let visible = [];
      for (let k = 0; k <= 48; k++) {
        const s = (k / 24) * Math.PI;
        const direction = add(scaled(u, Math.cos(s)), scaled(v, Math.sin(s)));
        const facing = dot(turned(pose.r, direction), this.camera.towards) >= 0;
        if (facing) visible.push(this.camera.project(placed(pose, add(o.at, scaled(direction, o.radius)))));
        if ((!facing || k === 48) && visible.length > 1) this.line(visible, colour, 1.1, 0.8);
        if (!facing) visible = [];
      }
    }
  }

  link(link, poses) {
    const [a, b] = [placed(poses[link.a], link.at_a), placed(poses[link.b], link.at_b)].map((p) => this.camera.project(p));
    const ink = this.colours.soft;
    [[link.a, a], [link.b, b]].forEach(([index, at]) => this.rod(index, poses[index], at));
    if (link.kind === "spring") return this.zigzag(a, b, ink);
    if (link.kind === "damper" || link.kind === "distance") this.line([a, b], ink, link.kind === "damper" ? 3 : 1.5, 0.7);
    for (const [x, y] of link.kind === "distance" || link.kind === "damper" ? [a, b] : [b]) {
      const g = this.g;
      g.beginPath();
      g.arc(x, y, 4, 0, 2 * Math.PI);
      g.fillStyle = this.colours.card;
      g.fill();
      g.strokeStyle = this.colours.ink;
      g.lineWidth = 1.5;
      g.stroke();
    }
  }

  /** A moving body without a shape of its own shows as rods from its centre to its joints. */
  rod(index, pose, at) {
    const body = this.run.scene.bodies[index];
    if (body.track === undefined || body.outlines.length > 0) return;
    this.line([this.camera.project(pose.p), at], bodyColour(this.colours, body), 4, 0.75);
  }

  zigzag(a, b, colour) {
    const [dx, dy] = [b[0] - a[0], b[1] - a[1]];
    const distance = Math.hypot(dx, dy) || 1;
    const [nx, ny] = [(-dy / distance) * 6, (dx / distance) * 6];
    const turns = 12;
    const points = [a];
    for (let k = 1; k < turns; k++) {
      const s = 0.12 + 0.76 * (k / turns), side = k % 2 ? 1 : -1;
      points.push([a[0] + dx * s + nx * side, a[1] + dy * s + ny * side]);
    }
    this.line([...points, b], colour, 1.5);
  }

  /** The forces on the second body: along the normal, and friction. */
  contact(contact) {
    const colour = contact.slips ? this.colours.slip : this.colours.stick;
    const at = this.camera.project(contact.at);
    if (this.usualForce > 0) {
      const metres = (Math.min(this.camera.width, this.camera.height) * 0.13) / this.camera.scale;
      const arrow = (impulse) => {
        const force = length(impulse) / this.run.scene.step / this.usualForce;
        this.arrow(at, this.camera.direction(scaled(unit(impulse), metres * Math.min(force, 2.2))), colour);
      };
      arrow(scaled(contact.normal, contact.push));
      arrow(contact.drag);
    }
    if (!contact.slips) return this.dot(at, 4, colour);
    const g = this.g;
    g.beginPath();
    g.arc(at[0], at[1], 4, 0, 2 * Math.PI);
    g.fillStyle = this.colours.card;
    g.fill();
    g.strokeStyle = colour;
    g.lineWidth = 2.25;
    g.stroke();
  }

  arrow([x, y], [dx, dy], colour) {
    const size = Math.hypot(dx, dy);
    if (size < 3) return;
    const [ux, uy] = [dx / size, dy / size], head = Math.min(8, size * 0.5);
    const [ex, ey] = [x + dx, y + dy];
    this.line([[x, y], [ex - ux * head * 0.7, ey - uy * head * 0.7]], colour, 2);
    this.polygon([[ex, ey], [ex - ux * head - uy * head * 0.45, ey - uy * head + ux * head * 0.45], [ex - ux * head + uy * head * 0.45, ey - uy * head - ux * head * 0.45]]);
    this.g.fillStyle = colour;
    this.g.fill();
  }
}

/** Convex hull of projected points (monotone chain). */
function hull(points) {
  const sorted = points.slice().sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const half = (list) => {
    const chain = [];
    for (const p of list) {
      while (chain.length > 1) {
        const [a, b] = chain.slice(-2);
        if ((b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0]) > 0) break;
        chain.pop();
      }
      chain.push(p);
    }
    return chain.slice(0, -1);
  };
  return [...half(sorted), ...half(sorted.reverse())];
}

function lengthText(metres) {
  if (metres >= 1000) return metres / 1000 + " km";
  if (metres >= 1) return metres + " m";
  if (metres >= 0.01) return +(metres * 100).toPrecision(3) + " cm";
  return +(metres * 1000).toPrecision(3) + " mm";
}
