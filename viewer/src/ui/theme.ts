// Light and dark: by the system unless chosen here. Colours live in the style sheet; the scene and the plots read them there.

import { Color } from "three";

type Choice = "auto" | "light" | "dark";

const ORDER: Choice[] = ["auto", "light", "dark"];
const KEY = "stiction-theme";

export class Theme {
  private choice: Choice = "auto";
  private readonly listeners: (() => void)[] = [];

  constructor(private readonly button: HTMLButtonElement) {
    try {
      const kept = localStorage.getItem(KEY) as Choice | null;
      if (kept && ORDER.includes(kept)) this.choice = kept;
    } catch {
      // Pages from disk may have no storage.
    }
    button.addEventListener("click", () => this.next());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.apply());
    this.apply();
  }

  next(): void {
    this.choice = ORDER[(ORDER.indexOf(this.choice) + 1) % ORDER.length]!;
    try {
      localStorage.setItem(KEY, this.choice);
    } catch {
      // The choice then lasts as long as the page.
    }
    this.apply();
  }

  onChange(listener: () => void): void {
    this.listeners.push(listener);
  }

  get dark(): boolean {
    return this.choice === "dark" || (this.choice === "auto" && matchMedia("(prefers-color-scheme: dark)").matches);
  }

  private apply(): void {
    document.documentElement.dataset["theme"] = this.dark ? "dark" : "light";
    this.button.textContent = { auto: "◐", light: "☀", dark: "☾" }[this.choice];
    this.button.setAttribute("aria-label", `Colours: ${this.choice}`);
    this.button.title = `Colours: ${this.choice} (D)`;
    for (const listener of this.listeners) listener();
  }
}

/** A colour of the style sheet, as text. */
export function css(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
}

export function colour(name: string): Color {
  return new Color(css(name));
}

/** Tints of runs laid over each other; the first keeps the colours of its bodies. */
export const RUN_TINTS = ["accent", "run-1", "run-2", "run-3", "run-4"];
export const BODY_COLOURS = 6;

/** The colour of a body by its place among those that move; null for one that does not. */
export function bodyColour(place: number | null, driven: boolean): Color {
  if (place === null) return colour("fixed");
  return driven ? colour("driven") : colour(`body-${place % BODY_COLOURS}`);
}
