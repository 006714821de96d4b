// Scale bar of a round length, for cameras without perspective.

import { roundNumber } from "../scene/ground";
import { element } from "./element";

function lengthText(metres: number): string {
  const short = (x: number): string => String(Number(x.toPrecision(3)));
  if (metres >= 1000) return `${short(metres / 1000)} km`;
  if (metres >= 1) return `${short(metres)} m`;
  if (metres >= 0.01) return `${short(metres * 100)} cm`;
  return metres >= 1e-3 ? `${short(metres * 1000)} mm` : `${short(metres * 1e6)} µm`;
}

export function drawRuler(pixel: number, shown: boolean): void {
  const ruler = element("ruler");
  ruler.hidden = !shown;
  const metres = roundNumber(60 * pixel);
  ruler.querySelector("span")!.textContent = lengthText(metres);
  ruler.querySelector("i")!.style.width = `${metres / pixel}px`;
}
