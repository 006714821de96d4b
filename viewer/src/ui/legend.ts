// Legend of marks, arrows and the tints of runs.

import type { Run } from "../data/run";
import { type MarkShape, drawMark } from "../scene/marks";
import { element } from "./element";
import { RUN_TINTS, css } from "./theme";
import type { Toggles } from "./toggles";

const SVG = "http://www.w3.org/2000/svg";

export class Legend {
  private readonly place = element("legend");

  constructor(private readonly runs: Run[], private readonly toggles: Toggles, private readonly showRun: (run: number, visible: boolean) => void) {}

  draw(): void {
    const entries: HTMLElement[] = this.runs.length > 1 ? this.runs.map((run, k) => this.runEntry(run, k)) : [];
    const run = this.runs[0]!;
    const supported = run.head.bodies.some((body) => body.support_points.length > 0);
    if (run.head.contacts.labels.length > 0 || supported) {
      if (this.toggles.isOn("Contacts")) entries.push(mark("square", "stick", "sticks"), mark("triangle", "slip", "slips"), supported && run.head.contacts.labels.length === 0 ? mark("diamond", "soft", "support point") : mark("ring", "open", "open"));
      if (this.toggles.isOn("Forces")) {
        if (run.head.contacts.labels.length > 0) entries.push(arrow("normal-force", "normal force"));
        entries.push(arrow("friction-force", "friction"));
      }
    }
    this.place.replaceChildren(...entries);
  }

  private runEntry(run: Run, k: number): HTMLElement {
    const label = document.createElement("label");
    const box = document.createElement("input");
    box.type = "checkbox";
    box.checked = !this.hidden.has(k);
    box.addEventListener("change", () => {
      if (box.checked) this.hidden.delete(k);
      else this.hidden.add(k);
      this.showRun(k, box.checked);
    });
    const swatch = document.createElement("i");
    swatch.style.background = k === 0 ? "linear-gradient(90deg, var(--body-0), var(--body-1), var(--body-2))" : `var(--${RUN_TINTS[k % RUN_TINTS.length]})`;
    swatch.style.opacity = k === 0 ? "1" : "0.6";
    label.append(box, swatch, Object.assign(document.createElement("b"), { textContent: run.head.label }));
    return label;
  }

  private readonly hidden = new Set<number>();
}

function entry(picture: Element, text: string): HTMLElement {
  const span = document.createElement("span");
  span.append(picture, text);
  return span;
}

function mark(shape: MarkShape, tint: string, text: string): HTMLElement {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 32;
  const g = canvas.getContext("2d");
  if (g) drawMark(g, shape, css(tint), css("card"), 32);
  canvas.setAttribute("aria-hidden", "true");
  return entry(canvas, text);
}

function arrow(tint: string, text: string): HTMLElement {
  const picture = document.createElementNS(SVG, "svg");
  picture.setAttribute("viewBox", "0 0 20 12");
  picture.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", "M0 5h12V1.5L20 6l-8 4.5V7H0z");
  path.style.fill = `var(--${tint})`;
  picture.append(path);
  return entry(picture, text);
}
