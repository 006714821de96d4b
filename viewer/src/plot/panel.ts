// All plots of the page.

import type { Run } from "../data/run";
import type { Player } from "../player";
import { element } from "../ui/element";
import { Picker } from "./picker";
import { Plot } from "./plot";
import { Timeline } from "./timeline";

export class PlotPanel {
  private readonly plots: Plot[] = [];
  private readonly picker: Picker;
  private readonly timeline: Timeline;

  constructor(private readonly runs: Run[], private readonly player: Player) {
    const clock = player.clockRun;
    const start = clock.times[0] ?? 0;
    const spacing = (clock.end - start) / Math.max(1, clock.frames - 1);
    this.timeline = new Timeline(start, clock.end, spacing, (time) => player.seekTime(time), () => this.draw());
    this.picker = new Picker(runs[0]!);
    element("plot-add").addEventListener("click", () => this.choose());
    this.add(["set:energies"]);
  }

  /** Adds a plot and asks what it shows. */
  choose(): void {
    const first = this.runs[0]!.head.contacts.labels.length > 0 ? "set:normal-force" : "set:residual";
    const plot = this.add([first]);
    this.picker.open(plot.chosen, (ids) => plot.choose(ids));
  }

  private add(ids: string[]): Plot {
    const hooks = {
      choose: (plot: Plot) => this.picker.open(plot.chosen, (chosen) => plot.choose(chosen)),
      close: (plot: Plot) => {
        this.plots.splice(this.plots.indexOf(plot), 1);
        plot.element.remove();
      },
    };
    const plot = new Plot(this.runs, this.timeline, ids, hooks);
    this.plots.push(plot);
    element("plots").append(plot.element);
    return plot;
  }

  hideRun(run: number, hidden: boolean): void {
    for (const plot of this.plots) plot.hideRun(run, hidden);
  }

  show(): void {
    this.timeline.now = this.player.now;
    for (const plot of this.plots) plot.show();
  }

  draw(): void {
    for (const plot of this.plots) plot.draw();
  }
}
