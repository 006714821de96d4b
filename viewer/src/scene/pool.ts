// Many copies of one figure, drawn at once; their number changes from moment to moment.

import { type BufferGeometry, Color, type Group, InstancedMesh, type Material, type Matrix4 } from "three";

export class Pool {
  private mesh: InstancedMesh;
  private used = 0;

  constructor(private readonly parent: Group, geometry: BufferGeometry, material: Material, private readonly order: number) {
    this.mesh = this.make(geometry, material, 64);
  }

  private make(geometry: BufferGeometry, material: Material, capacity: number): InstancedMesh {
    const mesh = new InstancedMesh(geometry, material, capacity);
    mesh.frustumCulled = false;
    mesh.renderOrder = this.order;
    mesh.count = 0;
    this.parent.add(mesh);
    return mesh;
  }

  clear(): void {
    this.used = 0;
  }

  add(matrix: Matrix4, tint: Color): void {
    if (this.used === this.mesh.instanceMatrix.count) this.grow();
    this.mesh.setMatrixAt(this.used, matrix);
    this.mesh.setColorAt(this.used, tint);
    this.used++;
  }

  finish(): void {
    this.mesh.count = this.used;
    this.mesh.instanceMatrix.needsUpdate = true;
    if (this.mesh.instanceColor) this.mesh.instanceColor.needsUpdate = true;
  }

  private grow(): void {
    const old = this.mesh;
    this.mesh = this.make(old.geometry, old.material as Material, 2 * old.instanceMatrix.count);
    (this.mesh.instanceMatrix.array as Float32Array).set(old.instanceMatrix.array);
    for (let k = 0; k < this.used; k++) {
      const tint = new Color();
      old.getColorAt(k, tint);
      this.mesh.setColorAt(k, tint);
    }
    this.parent.remove(old);
    old.dispose();
  }
}
