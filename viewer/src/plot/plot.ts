// One time plot: curves of all runs, a cursor that follows the moment, marks of events.

import type { Run } from "../data/run";
import { css } from "../ui/theme";
import { type Scale, linear, logarithmic, tickText } from "./axis";
import { decimate, lowerBound, range } from "./decimate";
import { type Series, curves, nameOf } from "./series";
import type { Timeline } from "./timeline";

const MARGIN = { left: 58, right: 14, top: 8, bottom: 22 };
const FONT = '11px ui-sans-serif, system-ui, "Segoe UI", Roboto, sans-serif';
/** Dashes distinguish runs, and further curves of the same colour. */
const DASHES: number[][] = [[], [6, 4], [2, 3], [8, 3, 2, 3], [1, 3]];
const CURVE_COLOURS = 8;
/** Largest number of curves with a shown value. */
const TOLD = 12;

interface Drawn extends Series {
  run: number;
  tint: string;
  dash: number[];
}

export class Plot {
  readonly element = document.createElement("section");
  private readonly canvas = document.createElement("canvas");
  private readonly values = document.createElement("div");
  private readonly title = document.createElement("button");
  private readonly log = document.createElement("button");
  /** Static part of the plot, without the cursor. */
  private readonly still = document.createElement("canvas");
  private axes: { box: Box; time: Scale; scale: Scale; ratio: number } | null = null;
  private drawn: Drawn[] = [];
  private told: HTMLElement[] = [];
  private logarithmic = false;
  private hidden = new Set<number>();

  constructor(private readonly runs: Run[], private readonly timeline: Timeline, private ids: string[], hooks: { choose: (plot: Plot) => void; close: (plot: Plot) => void }) {
    this.element.className = "plot";
    const bar = document.createElement("header");
    this.title.className = "plot-title";
    this.title.type = "button";
    this.title.addEventListener("click", () => hooks.choose(this));
    this.log.type = "button";
    this.log.className = "small";
    this.log.textContent = "log";
    this.log.setAttribute("aria-label", "Logarithmic axis");
    this.log.addEventListener("click", () => {
      this.logarithmic = !this.logarithmic;
      this.draw();
    });
    const close = document.createElement("button");
    close.type = "button";
    close.className = "small";
    close.textContent = "×";
    close.setAttribute("aria-label", "Remove this plot");
    close.addEventListener("click", () => hooks.close(this));
    this.values.className = "plot-values";
    bar.append(this.title, this.values, this.log, close);
    this.canvas.setAttribute("role", "img");
    const frame = document.createElement("div");
    frame.className = "plot-frame";
    frame.append(this.canvas);
    this.element.append(bar, frame);
    this.timeline.listenTo(this.canvas, () => [MARGIN.left, this.canvas.clientWidth - MARGIN.right]);
    new ResizeObserver(() => this.draw()).observe(frame);
    this.choose(ids);
  }

  get chosen(): string[] {
    return this.ids;
  }

  choose(ids: string[]): void {
    this.ids = ids;
    const name = ids.map(nameOf).join(", ") || "nothing";
    this.title.textContent = name;
    this.title.title = `${name}: choose what to plot`;
    this.title.setAttribute("aria-label", `Plot of ${name}; choose what to plot`);
    this.element.setAttribute("aria-label", `Plot of ${name}`);
    this.drawn = this.runs.flatMap((run, index) => ids.flatMap((id) => curves(run, id)).map((series, k) => this.styled(series, index, k)));
    const all = this.drawn.map((series) => range(series.y, true)).filter((found) => found !== null);
    this.logarithmic = ids.every((id) => id === "set:residual" || id === "column:residual") && all.some(([low, high]) => high > 1e3 * low);
    this.label();
    this.draw();
  }

  private styled(series: Series, run: number, k: number): Drawn {
    const tint = { kinetic: "curve-1", potential: "curve-0", total: "ink" }[series.name] ?? `curve-${k % CURVE_COLOURS}`;
    const several = this.runs.length > 1;
    return { ...series, run, tint, dash: DASHES[several ? run % DASHES.length : Math.floor(k / CURVE_COLOURS) % DASHES.length]! };
  }

  hideRun(run: number, hidden: boolean): void {
    if (hidden) this.hidden.add(run);
    else this.hidden.delete(run);
    this.draw();
  }

  private vertical(top: number, bottom: number): { scale: Scale; unit: string } {
    const units = new Set(this.drawn.map((series) => series.unit));
    const unit = units.size === 1 ? [...units][0]! : "";
    const visible = this.drawn.filter((series) => !this.hidden.has(series.run));
    const ranges = visible.map((series) => range(series.y, this.logarithmic)).filter((found) => found !== null);
    let low = ranges.reduce((a, [b]) => Math.min(a, b), Infinity);
    let high = ranges.reduce((a, [, b]) => Math.max(a, b), -Infinity);
    if (!(low <= high)) [low, high] = [this.logarithmic ? 0.1 : 0, 1];
    if (this.logarithmic) return { scale: logarithmic(low / 1.5, high * 1.5, bottom, top, 5), unit };
    // Rounding errors about a value must not be scaled to the full height.
    const least = 1e-12 * Math.max(Math.abs(low), Math.abs(high), 1e-300);
    if (high - low <= least) [low, high] = [low - Math.max(0.5 * Math.abs(low), 0.5), high + Math.max(0.5 * Math.abs(high), 0.5)];
    const air = 0.07 * (high - low);
    return { scale: linear(low - air, high + air, bottom, top, Math.max(2, (bottom - top) / 34)), unit };
  }

  /** Draws everything anew: sizes, curves, colours or the part of time have changed. */
  draw(): void {
    this.log.setAttribute("aria-pressed", String(this.logarithmic));
    const frame = this.canvas.parentElement!;
    const [width, height, ratio] = [frame.clientWidth, frame.clientHeight, devicePixelRatio];
    if (width < 2 || height < 2) return;
    for (const canvas of [this.canvas, this.still]) {
      canvas.width = width * ratio;
      canvas.height = height * ratio;
    }
    const g = this.still.getContext("2d");
    if (!g) return;
    g.scale(ratio, ratio);
    const box = { left: MARGIN.left, right: width - MARGIN.right, top: MARGIN.top, bottom: height - MARGIN.bottom };
    const time = linear(this.timeline.from, this.timeline.to, box.left, box.right, Math.max(2, width / 130));
    const { scale, unit } = this.vertical(box.top, box.bottom);
    this.axes = { box, time, scale, ratio };
    this.grid(g, box, time, scale, unit);
    clip(g, box);
    this.events(g, box, time);
    g.lineJoin = "round";
    for (const series of this.drawn) if (!this.hidden.has(series.run)) this.curve(g, series, time, scale, box.right - box.left);
    this.show();
  }

  /** Moves the cursor over what was drawn. */
  show(): void {
    const g = this.canvas.getContext("2d");
    if (!g || !this.axes) return;
    const { box, time, scale, ratio } = this.axes;
    g.setTransform(1, 0, 0, 1, 0, 0);
    g.clearRect(0, 0, this.canvas.width, this.canvas.height);
    g.drawImage(this.still, 0, 0);
    g.scale(ratio, ratio);
    g.save();
    clip(g, box);
    this.cursor(g, box, time, scale);
    g.restore();
    this.tell();
  }

  private grid(g: CanvasRenderingContext2D, box: Box, time: Scale, scale: Scale, unit: string): void {
    g.font = FONT;
    g.fillStyle = css("soft");
    g.strokeStyle = css("grid");
    g.lineWidth = 1;
    g.textAlign = "right";
    g.textBaseline = "middle";
    for (const { value, text } of scale.ticks) {
      const y = Math.round(scale.place(value)) + 0.5;
      g.beginPath();
      g.moveTo(box.left, y);
      g.lineTo(box.right, y);
      g.stroke();
      g.fillText(text, box.left - 7, y);
    }
    if (unit) {
      g.save();
      g.translate(11, (box.top + box.bottom) / 2);
      g.rotate(-Math.PI / 2);
      g.textAlign = "center";
      g.fillText(unit, 0, 0);
      g.restore();
    }
    g.textBaseline = "bottom";
    g.textAlign = "center";
    for (const { value, text } of time.ticks) g.fillText(`${text} s`, Math.min(Math.max(time.place(value), box.left + 8), box.right - 10), box.bottom + 18);
  }

  private events(g: CanvasRenderingContext2D, box: Box, time: Scale): void {
    g.globalAlpha = 0.5;
    for (const event of this.runs[0]!.head.summary?.events ?? []) {
      g.fillStyle = css(event.kind === "slip" ? "slip" : event.kind === "stick" ? "stick" : "soft");
      g.fillRect(Math.round(time.place(event.t)) - 0.5, box.bottom - 5, 1.5, 5);
    }
    g.globalAlpha = 1;
  }

  private curve(g: CanvasRenderingContext2D, series: Drawn, time: Scale, scale: Scale, pixels: number): void {
    g.strokeStyle = css(series.tint);
    g.lineWidth = 1.6;
    g.globalAlpha = series.run === 0 ? 1 : 0.75;
    g.setLineDash(series.dash);
    g.beginPath();
    let drawing = false;
    for (const [t, value] of decimate(series, this.timeline.from, this.timeline.to, Math.round(pixels))) {
      const y = scale.place(value);
      if (!Number.isFinite(y)) drawing = false;
      else if (drawing) g.lineTo(time.place(t), y);
      else {
        g.moveTo(time.place(t), y);
        drawing = true;
      }
    }
    g.stroke();
    g.setLineDash([]);
    g.globalAlpha = 1;
  }

  private cursor(g: CanvasRenderingContext2D, box: Box, time: Scale, scale: Scale): void {
    const x = time.place(this.timeline.now);
    g.strokeStyle = css("accent");
    g.lineWidth = 1.25;
    g.beginPath();
    g.moveTo(x, box.top);
    g.lineTo(x, box.bottom);
    g.stroke();
    for (const series of this.drawn) {
      const y = scale.place(this.valueNow(series));
      if (this.hidden.has(series.run) || !Number.isFinite(y)) continue;
      g.fillStyle = css(series.tint);
      g.beginPath();
      g.arc(x, y, 3, 0, 2 * Math.PI);
      g.fill();
    }
  }

  /** The value at the last point at or before the moment. */
  private valueNow(series: Series): number {
    const now = this.timeline.now;
    const place = lowerBound(series.x, now + 1e-9 * Math.max(1, Math.abs(now))) - 1;
    const next = series.x[place + 1];
    const away = place === series.x.length - 1 && now > series.x[place]! + 2 * this.timeline.spacing && next === undefined;
    return away ? NaN : (series.y[place] ?? NaN);
  }

  /** Names the curves; their values follow the cursor. */
  private label(): void {
    this.told = [];
    const spans = this.drawn.slice(0, TOLD).map((series) => {
      const span = document.createElement("span");
      const swatch = document.createElement("i");
      swatch.style.borderTopColor = `var(--${series.tint})`;
      swatch.style.borderTopStyle = series.dash.length > 0 ? "dashed" : "solid";
      const name = this.runs.length > 1 ? `${series.name} (${this.runs[series.run]!.head.label})` : series.name;
      const value = document.createElement("b");
      this.told.push(value);
      span.append(swatch, `${name} `, value);
      return span;
    });
    this.values.replaceChildren(...spans);
  }

  private tell(): void {
    this.told.forEach((place, k) => {
      const series = this.drawn[k]!;
      const value = this.valueNow(series);
      place.textContent = Number.isFinite(value) ? `${tickText(value, Math.max(Math.abs(value) * 1e-3, 1e-300))} ${series.unit}` : "–";
    });
    this.canvas.setAttribute("aria-label", this.values.textContent ?? "");
  }
}

/** Nothing is drawn left and right of the axes. */
function clip(g: CanvasRenderingContext2D, box: Box): void {
  g.beginPath();
  g.rect(box.left, 0, box.right - box.left, box.bottom + MARGIN.bottom);
  g.clip();
}

interface Box {
  left: number;
  right: number;
  top: number;
  bottom: number;
}
