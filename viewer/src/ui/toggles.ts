// Toggles of display options, and views.

import type { View } from "../scene/camera";
import type { Stage } from "../scene/stage";
import { element } from "./element";

interface Toggle {
  name: string;
  key: string;
  on: boolean;
  set: (stage: Stage, on: boolean) => void;
}

const TOGGLES: Toggle[] = [
  { name: "Contacts", key: "c", on: true, set: (stage, on) => (stage.contacts.showMarks = on) },
  { name: "Forces", key: "f", on: true, set: (stage, on) => (stage.contacts.showForces = on) },
  { name: "Friction cones", key: "k", on: false, set: (stage, on) => (stage.cones.group.visible = on) },
  { name: "Joints and springs", key: "j", on: true, set: (stage, on) => (stage.links.group.visible = on) },
  { name: "Trails", key: "t", on: false, set: (stage, on) => (stage.trails.visible = on) },
  { name: "Body frames", key: "x", on: false, set: (stage, on) => (stage.frames.group.visible = on) },
];

const VIEWS: { name: string; view: View; key: string }[] = [
  { name: "Orbit", view: "orbit", key: "1" },
  { name: "Front", view: "front", key: "2" },
  { name: "Side", view: "side", key: "3" },
  { name: "Top", view: "top", key: "4" },
];

export class Toggles {
  private readonly boxes = new Map<string, HTMLInputElement>();
  /** Action of each key. */
  readonly keys = new Map<string, () => void>();

  constructor(stage: Stage, spatial: boolean, changed: () => void) {
    for (const toggle of TOGGLES) this.add(stage, toggle, changed);
    const stretch = element<HTMLInputElement>("stretch");
    stretch.addEventListener("input", () => {
      stage.contacts.stretch = Math.pow(2, Number(stretch.value));
      stage.redraw();
    });
    const views = element("views");
    const offered = spatial ? VIEWS : [{ name: "Fit", view: "orbit" as View, key: "1" }];
    for (const { name, view, key } of offered) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = name;
      button.title = `${name} view (${key})`;
      button.setAttribute("aria-label", `${name} view`);
      button.addEventListener("click", () => stage.eye.look(view));
      this.keys.set(key, () => stage.eye.look(view));
      views.append(button);
    }
    this.keys.set("0", () => stage.eye.look("orbit"));
    this.keys.set("+", () => stage.eye.zoom(1.25));
    this.keys.set("=", () => stage.eye.zoom(1.25));
    this.keys.set("-", () => stage.eye.zoom(0.8));
  }

  private add(stage: Stage, toggle: Toggle, changed: () => void): void {
    const label = document.createElement("label");
    const box = document.createElement("input");
    box.type = "checkbox";
    box.checked = toggle.on;
    const key = Object.assign(document.createElement("kbd"), { textContent: toggle.key.toUpperCase() });
    key.setAttribute("aria-hidden", "true");
    label.append(box, toggle.name, key);
    box.addEventListener("change", () => {
      toggle.set(stage, box.checked);
      stage.change();
      changed();
    });
    this.keys.set(toggle.key, () => box.click());
    this.boxes.set(toggle.name, box);
    element("toggles").append(label);
  }

  isOn(name: string): boolean {
    return this.boxes.get(name)?.checked ?? false;
  }
}
