// Play, pause, step, scrub and speed; marks above the slider where contacts change.

import type { Run } from "../data/run";
import type { Player } from "../player";
import { element } from "./element";
import { css } from "./theme";

const SPEEDS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10];
/** Default duration of playback, s, unless that is faster than real time. */
const SHOW_SECONDS = 6;
/** Icons of the button. */
const PLAY = "M3 1.5v13L14 8z";
const PAUSE = "M3 2h3.5v12H3zM9.5 2H13v12H9.5z";
/** Half the width of the thumb of a slider, which its track leaves at both ends. */
const THUMB = 8;

export class Transport {
  private readonly slider = element<HTMLInputElement>("slider");
  private readonly playButton = element<HTMLButtonElement>("play");
  private readonly clock = element("clock");
  private readonly speed = element<HTMLSelectElement>("speed");
  private readonly ticks = element<HTMLCanvasElement>("ticks");
  private readonly digits: number;

  constructor(private readonly player: Player, private readonly run: Run) {
    this.slider.max = String(player.frames - 1);
    this.slider.addEventListener("input", () => {
      player.pause();
      player.seek(Number(this.slider.value));
    });
    this.playButton.addEventListener("click", () => player.toggle());
    element("back").addEventListener("click", () => player.step(-1));
    element("forward").addEventListener("click", () => player.step(1));
    const span = player.clockRun.end - (player.clockRun.times[0] ?? 0);
    const spacing = span / Math.max(1, player.frames - 1);
    this.digits = Math.min(9, Math.max(2, Math.ceil(-Math.log10(spacing || 1)) + 1));
    this.offerSpeeds(span);
    new ResizeObserver(() => this.mark()).observe(this.ticks);
  }

  private offerSpeeds(span: number): void {
    const wanted = Math.min(1, Math.max(span, 1e-9) / SHOW_SECONDS);
    const off = (speed: number): number => Math.abs(Math.log(speed / wanted));
    const nearest = SPEEDS.reduce((a, b) => (off(b) < off(a) ? b : a));
    for (const speed of SPEEDS) this.speed.append(new Option(`${speed}×`, String(speed), speed === nearest, speed === nearest));
    this.speed.addEventListener("change", () => (this.player.speed = Number(this.speed.value)));
    this.player.speed = nearest;
  }

  /** One speed slower or faster. */
  changeSpeed(by: number): void {
    this.speed.selectedIndex = Math.max(0, Math.min(SPEEDS.length - 1, this.speed.selectedIndex + by));
    this.player.speed = Number(this.speed.value);
  }

  show(): void {
    const { player } = this;
    this.slider.value = String(player.frame);
    const time = player.now.toFixed(this.digits);
    this.slider.setAttribute("aria-valuetext", `${time} seconds`);
    const all = Object.assign(document.createElement("small"), { textContent: ` / ${player.clockRun.end.toFixed(Math.min(this.digits, 3))} s` });
    this.clock.replaceChildren(time, all);
    this.playButton.querySelector("path")?.setAttribute("d", player.playing ? PAUSE : PLAY);
    this.playButton.setAttribute("aria-label", player.playing ? "Pause" : "Play");
  }

  /** Touch and separation have long marks, stick and slip short ones. */
  mark(): void {
    const [width, height, ratio] = [this.ticks.clientWidth, this.ticks.clientHeight, devicePixelRatio];
    this.ticks.width = width * ratio;
    this.ticks.height = height * ratio;
    const g = this.ticks.getContext("2d");
    if (!g || width === 0) return;
    g.scale(ratio, ratio);
    const start = this.player.clockRun.times[0] ?? 0;
    const span = Math.max(this.player.clockRun.end - start, 1e-12);
    g.globalAlpha = 0.75;
    for (const event of this.run.head.summary?.events ?? []) {
      const x = THUMB + ((event.t - start) / span) * (width - 2 * THUMB);
      const short = event.kind === "stick" || event.kind === "slip";
      g.fillStyle = css(event.kind === "slip" ? "slip" : event.kind === "stick" ? "stick" : "soft");
      g.fillRect(x - 0.75, 0, 1.5, short ? 4 : 8);
    }
  }
}
