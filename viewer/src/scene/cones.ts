// Friction cones: at every contact the forces that friction allows, around the normal and as wide as the coefficient.

import { ConeGeometry, DoubleSide, Group, Matrix4, MeshBasicMaterial, Quaternion, Vector3 } from "three";
import { Mode, type Run } from "../data/run";
import { colour } from "../ui/theme";
import { Pool } from "./pool";

const Y = new Vector3(0, 1, 0);
/** Height of a cone, as a fraction of the radius of the scene. */
const HEIGHT = 0.26;

export class Cones {
  readonly group = new Group();
  private readonly cones: Pool;
  private tints = [colour("open"), colour("stick"), colour("slip")];

  constructor(private readonly run: Run, private readonly radius: number) {
    this.group.visible = false;
    const material = new MeshBasicMaterial({ transparent: true, opacity: 0.2, side: DoubleSide, depthWrite: false, fog: false });
    // Apex in the origin, one metre high along y, one metre wide at the rim.
    const geometry = new ConeGeometry(1, 1, 48, 1, true).rotateX(Math.PI).translate(0, 0.5, 0);
    this.cones = new Pool(this.group, geometry, material, 10);
  }

  paint(): void {
    this.tints = [colour("open"), colour("stick"), colour("slip")];
  }

  show(frame: number): void {
    if (!this.group.visible) return;
    this.cones.clear();
    for (const { mode, point, normal, friction } of this.run.contacts(frame)) {
      if (mode === Mode.Open || !(friction > 0) || !Number.isFinite(friction)) continue;
      // A wide cone keeps its slant within bounds rather than its height.
      const height = (HEIGHT * this.radius) / Math.max(1, friction);
      const turn = new Quaternion().setFromUnitVectors(Y, normal);
      this.cones.add(new Matrix4().compose(point, turn, new Vector3(friction * height, height, friction * height)), this.tints[mode]!);
    }
    this.cones.finish();
  }
}
