// Camera: the plane from the front without perspective, space from any direction.

import { type Box3, MOUSE, OrthographicCamera, PerspectiveCamera, type Sphere, TOUCH, Vector3 } from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";

export type View = "orbit" | "front" | "side" | "top";

/** Directions from the scene to the eye. */
const DIRECTIONS: Record<View, [number, number, number]> = {
  orbit: [0.62, -0.9, 0.42],
  front: [0, -1, 0.0001],
  side: [1, 0, 0.0001],
  top: [0, -0.0001, 1],
};
const FIELD = 30;
/** Margin around the scene. */
const AIR = 1.16;

export class Eye {
  readonly camera: OrthographicCamera | PerspectiveCamera;
  readonly controls: OrbitControls;
  private width = 1;
  private height = 1;
  private view: View = "orbit";

  constructor(spatial: boolean, private readonly box: Box3, private readonly sphere: Sphere, canvas: HTMLCanvasElement, changed: () => void) {
    const far = 60 * sphere.radius;
    this.camera = spatial ? new PerspectiveCamera(FIELD, 1, 0.01 * sphere.radius, far) : new OrthographicCamera(-1, 1, 1, -1, 0, far);
    this.camera.up.set(0, spatial ? 0 : 1, spatial ? 1 : 0);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableDamping = false;
    this.controls.enableRotate = spatial;
    this.controls.zoomToCursor = true;
    this.controls.screenSpacePanning = true;
    this.controls.maxDistance = 20 * sphere.radius;
    if (!spatial) {
      this.controls.mouseButtons = { LEFT: MOUSE.PAN, MIDDLE: MOUSE.DOLLY, RIGHT: MOUSE.PAN };
      this.controls.touches = { ONE: TOUCH.PAN, TWO: TOUCH.DOLLY_PAN };
    }
    this.controls.addEventListener("change", changed);
  }

  resize(width: number, height: number): void {
    const first = this.width === 1;
    this.width = width;
    this.height = height;
    if (this.camera instanceof PerspectiveCamera) {
      this.camera.aspect = width / height;
    } else {
      const [x, y] = this.halves();
      [this.camera.left, this.camera.right, this.camera.top, this.camera.bottom] = [-x, x, y, -y];
    }
    this.camera.updateProjectionMatrix();
    if (first) this.look(this.view);
  }

  /** Half extents of an orthographic view that contains the box. */
  private halves(): [number, number] {
    const size = this.box.getSize(new Vector3()).multiplyScalar(0.5 * AIR);
    const least = 0.02 * this.sphere.radius;
    const aspect = this.width / this.height;
    const y = Math.max(size.y, size.x / aspect, least);
    return [y * aspect, y];
  }

  /** Looks at the whole scene from one of the named sides. */
  look(view: View): void {
    this.view = view;
    const centre = this.box.getCenter(new Vector3());
    const target = this.controls.target.copy(centre);
    if (this.camera instanceof PerspectiveCamera) {
      const direction = new Vector3(...DIRECTIONS[view]).normalize();
      this.camera.position.copy(target).addScaledVector(direction, this.distance(direction));
    } else {
      this.camera.position.set(target.x, target.y, 10 * this.sphere.radius);
      this.camera.zoom = 1;
      this.camera.updateProjectionMatrix();
    }
    this.controls.update();
  }

  /** The distance from which every corner of the box is in the picture. */
  private distance(direction: Vector3): number {
    const right = new Vector3(0, 0, 1).cross(direction).normalize();
    const up = direction.clone().cross(right);
    const half = Math.tan((FIELD * Math.PI) / 360);
    const centre = this.box.getCenter(new Vector3());
    const aspect = this.width / this.height;
    let far = 0;
    for (let k = 0; k < 8; k++) {
      const { min, max } = this.box;
      const corner = new Vector3(k & 1 ? max.x : min.x, k & 2 ? max.y : min.y, k & 4 ? max.z : min.z).sub(centre);
      const reach = Math.max(Math.abs(corner.dot(up)), Math.abs(corner.dot(right)) / aspect);
      far = Math.max(far, (AIR * reach) / half + corner.dot(direction));
    }
    return Math.max(far, 0.5 * this.sphere.radius);
  }

  /** Metres per pixel at the centre of the scene. */
  pixel(): number {
    if (this.camera instanceof PerspectiveCamera) {
      const distance = this.camera.position.distanceTo(this.controls.target);
      return (2 * distance * Math.tan((FIELD * Math.PI) / 360)) / this.height;
    }
    return (this.camera.top - this.camera.bottom) / this.camera.zoom / this.height;
  }

  zoom(factor: number): void {
    if (this.camera instanceof PerspectiveCamera) {
      this.camera.position.sub(this.controls.target).divideScalar(factor).add(this.controls.target);
    } else {
      this.camera.zoom *= factor;
      this.camera.updateProjectionMatrix();
    }
    this.controls.update();
  }
}
