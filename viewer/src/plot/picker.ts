// The list of everything that can be plotted, with a search field.

import type { Run } from "../data/run";
import { choices } from "./series";

/** Largest number of shown entries; the search finds the others. */
const SHOWN = 250;

export class Picker {
  private readonly dialog = document.getElementById("picker") as HTMLDialogElement;
  private readonly search = document.getElementById("picker-search") as HTMLInputElement;
  private readonly list = document.getElementById("picker-list") as HTMLElement;
  private readonly count = document.getElementById("picker-count") as HTMLElement;
  private chosen = new Set<string>();
  private report: (ids: string[]) => void = () => {};

  constructor(private readonly run: Run) {
    this.search.addEventListener("input", () => this.fill());
    this.search.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      const first = this.list.querySelector("input");
      if (first && this.chosen.size === 0) first.click();
      this.dialog.close();
    });
    document.getElementById("picker-done")?.addEventListener("click", () => this.dialog.close());
    this.dialog.addEventListener("click", (event) => {
      if (event.target === this.dialog) this.dialog.close();
    });
  }

  /** Asks what to plot; every change is reported at once. */
  open(ids: string[], report: (ids: string[]) => void): void {
    this.chosen = new Set(ids);
    this.report = report;
    this.search.value = "";
    this.fill();
    this.dialog.showModal();
    this.search.focus();
  }

  private fill(): void {
    const found = choices(this.run, this.search.value, SHOWN);
    const entries: HTMLElement[] = [];
    let group = "";
    for (const choice of found) {
      if (choice.group !== group) {
        group = choice.group;
        entries.push(Object.assign(document.createElement("h3"), { textContent: group }));
      }
      const label = document.createElement("label");
      const box = document.createElement("input");
      box.type = "checkbox";
      box.checked = this.chosen.has(choice.id);
      box.addEventListener("change", () => {
        if (box.checked) this.chosen.add(choice.id);
        else this.chosen.delete(choice.id);
        this.report([...this.chosen]);
      });
      const unit = Object.assign(document.createElement("small"), { textContent: choice.unit });
      label.append(box, choice.name, unit);
      entries.push(label);
    }
    this.list.replaceChildren(...entries);
    this.count.textContent = found.length === SHOWN ? `the first ${SHOWN}; type to find others` : `${found.length} found`;
  }
}
