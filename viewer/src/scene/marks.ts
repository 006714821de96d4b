// Marks of constant size on the screen. Each state has its own shape, so that colours are not needed to distinguish them:
// open a ring, stick a square, slip a triangle; support points and joints have theirs.

import { BufferAttribute, BufferGeometry, CanvasTexture, type Group, Points, PointsMaterial, SRGBColorSpace, type Vector3 } from "three";
import { css } from "../ui/theme";

export type MarkShape = "ring" | "square" | "triangle" | "joint" | "diamond";

/** Pixels of a mark on the screen, and of its picture. */
const SIZE = 15;
const PICTURE = 64;

/** Draws a mark into a square of the given size: also the legend shows it. */
export function drawMark(g: CanvasRenderingContext2D, shape: MarkShape, tint: string, halo: string, size: number): void {
  const at = (x: number, y: number): [number, number] => [size * x, size * y];
  const path = new Path2D();
  if (shape === "square") path.rect(...at(0.24, 0.24), size * 0.52, size * 0.52);
  if (shape === "triangle" || shape === "diamond") {
    const corners = shape === "triangle" ? [at(0.5, 0.14), at(0.88, 0.8), at(0.12, 0.8)] : [at(0.5, 0.1), at(0.84, 0.5), at(0.5, 0.9), at(0.16, 0.5)];
    corners.forEach((corner, k) => (k ? path.lineTo(...corner) : path.moveTo(...corner)));
    path.closePath();
  }
  if (shape === "ring" || shape === "joint") path.arc(...at(0.5, 0.5), size * (shape === "ring" ? 0.3 : 0.26), 0, 2 * Math.PI);
  g.clearRect(0, 0, size, size);
  g.lineJoin = "round";
  g.strokeStyle = halo;
  g.lineWidth = size * 0.2;
  g.stroke(path);
  const hollow = shape === "ring" || shape === "joint" || shape === "diamond";
  g.fillStyle = hollow ? halo : tint;
  g.fill(path);
  g.strokeStyle = tint;
  g.lineWidth = size * (hollow ? 0.13 : 0.05);
  g.stroke(path);
}

export class Marks {
  private readonly points: Points<BufferGeometry, PointsMaterial>;
  private places = new Float32Array(3 * 64);
  private count = 0;

  constructor(parent: Group, private readonly shape: MarkShape, private readonly tint: string, order: number) {
    const material = new PointsMaterial({ size: SIZE, sizeAttenuation: false, transparent: true, depthTest: false, depthWrite: false, fog: false });
    this.points = new Points(new BufferGeometry(), material);
    this.points.frustumCulled = false;
    this.points.renderOrder = order;
    parent.add(this.points);
    this.paint();
  }

  paint(): void {
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = PICTURE;
    const g = canvas.getContext("2d");
    if (g) drawMark(g, this.shape, css(this.tint), css("card"), PICTURE);
    const texture = new CanvasTexture(canvas);
    texture.colorSpace = SRGBColorSpace;
    this.points.material.map?.dispose();
    this.points.material.map = texture;
    this.points.material.needsUpdate = true;
  }

  /** Sizes count in the pixels of the page, not of the device. */
  scale(ratio: number): void {
    this.points.material.size = SIZE * ratio;
  }

  clear(): void {
    this.count = 0;
  }

  add(at: Vector3): void {
    if (!at.toArray().every(Number.isFinite)) return;
    if (3 * this.count === this.places.length) {
      const larger = new Float32Array(2 * this.places.length);
      larger.set(this.places);
      this.places = larger;
    }
    at.toArray(this.places, 3 * this.count++);
  }

  finish(): void {
    const geometry = this.points.geometry;
    const attribute = geometry.getAttribute("position") as BufferAttribute | undefined;
    if (!attribute || attribute.array !== this.places) geometry.setAttribute("position", new BufferAttribute(this.places, 3));
    else attribute.needsUpdate = true;
    geometry.setDrawRange(0, this.count);
  }

  set visible(visible: boolean) {
    this.points.visible = visible;
  }
}
