// The scene on its canvas: lights, ground, the bodies of all runs, and display options. It draws only when something has
// changed.

import { DirectionalLight, Fog, Group, HemisphereLight, PCFShadowMap, Scene, WebGLRenderer } from "three";
import type { Run } from "../data/run";
import { colour } from "../ui/theme";
import { Bodies } from "./bodies";
import { boundsOf } from "./bounds";
import { Eye } from "./camera";
import { Cones } from "./cones";
import { Contacts } from "./contacts";
import { Frames } from "./frames";
import { Ground } from "./ground";
import { Links } from "./links";
import { Trails } from "./trails";

export class Stage {
  readonly eye: Eye;
  readonly contacts: Contacts;
  readonly cones: Cones;
  readonly links: Links;
  readonly trails: Trails;
  readonly frames: Frames;
  readonly bodies: Bodies[];
  private readonly ground: Ground;
  private readonly renderer: WebGLRenderer;
  private readonly scene = new Scene();
  private readonly sun = new DirectionalLight(0xffffff, 1.9);
  private readonly sky = new HemisphereLight(0xffffff, 0xbab6ae, 1.75);
  /** Marks, forces and joints of the first run. */
  private readonly extras = new Group();
  private frameOfRun: number[];
  private pending = false;
  private stale = true;
  /** Called after every frame, for overlays. */
  onDraw: () => void = () => {};

  constructor(private readonly canvas: HTMLCanvasElement, private readonly runs: Run[]) {
    const first = runs[0]!;
    const { box, sphere } = boundsOf(runs);
    this.renderer = new WebGLRenderer({ canvas, antialias: true, preserveDrawingBuffer: false });
    this.eye = new Eye(first.spatial, box, sphere, canvas, () => this.redraw());
    this.bodies = runs.map((run, k) => new Bodies(run, k, sphere.radius));
    this.ground = new Ground(first, sphere);
    this.contacts = new Contacts(first, sphere.radius);
    this.cones = new Cones(first, sphere.radius);
    this.links = new Links(first, this.bodies[0]!, sphere.radius);
    this.trails = new Trails(first);
    this.frames = new Frames(first, this.bodies[0]!, sphere.radius);
    this.frameOfRun = runs.map(() => 0);
    for (const part of [this.ground, ...this.bodies]) this.scene.add(part.group);
    for (const part of [this.contacts, this.cones, this.links, this.trails, this.frames]) this.extras.add(part.group);
    this.scene.add(this.extras);
    if (first.spatial) this.light(sphere.center.toArray(), sphere.radius);
    new ResizeObserver(() => this.resize()).observe(canvas.parentElement!);
    this.paint();
  }

  private light(centre: number[], radius: number): void {
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = PCFShadowMap;
    const [x, y, z] = centre as [number, number, number];
    this.sun.position.set(x + 1.1 * radius, y - 1.4 * radius, z + 2.6 * radius);
    this.sun.target.position.set(x, y, z);
    this.sun.castShadow = true;
    this.sun.shadow.mapSize.set(2048, 2048);
    this.sun.shadow.radius = 4;
    this.sun.shadow.normalBias = 0.004 * radius;
    Object.assign(this.sun.shadow.camera, { left: -1.5 * radius, right: 1.5 * radius, top: 1.5 * radius, bottom: -1.5 * radius, near: 0.1 * radius, far: 8 * radius });
    this.sky.position.set(0, 0, 1);
    this.scene.add(this.sun, this.sun.target, this.sky);
    this.scene.fog = new Fog(0xffffff, 5 * radius, 15 * radius);
  }

  /** Takes the colours of the theme. */
  paint(): void {
    const air = colour(this.runs[0]!.spatial ? "air" : "card");
    this.scene.background = air;
    this.scene.fog?.color.copy(air);
    for (const part of [this.ground, ...this.bodies, this.contacts, this.cones, this.links, this.trails]) part.paint();
    this.change();
  }

  private resize(): void {
    const { clientWidth: width, clientHeight: height } = this.canvas.parentElement!;
    if (width < 2 || height < 2) return;
    const ratio = Math.min(devicePixelRatio, 2);
    this.renderer.setPixelRatio(ratio);
    this.renderer.setSize(width, height, false);
    for (const part of [this.contacts, this.links]) part.scale(ratio);
    this.eye.resize(width, height);
    this.redraw();
  }

  /** Shows a moment of every run. */
  show(frames: number[]): void {
    this.frameOfRun = frames;
    this.change();
  }

  showRun(run: number, visible: boolean): void {
    const bodies = this.bodies[run];
    if (bodies) bodies.group.visible = visible;
    if (run === 0) this.extras.visible = visible;
    this.change();
  }

  /** Requests a new frame. */
  change(): void {
    this.stale = true;
    this.redraw();
  }

  redraw(): void {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      this.draw();
    });
  }

  private draw(): void {
    if (this.stale) {
      this.stale = false;
      const frame = this.frameOfRun[0] ?? 0;
      this.bodies.forEach((bodies, run) => bodies.show(this.frameOfRun[run] ?? 0));
      for (const part of [this.ground, this.contacts, this.cones, this.trails]) part.show(frame);
      this.links.show();
      this.frames.show();
    }
    this.contacts.draw(this.eye.pixel());
    this.renderer.render(this.scene, this.eye.camera);
    this.onDraw();
  }
}
