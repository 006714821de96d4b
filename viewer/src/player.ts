// Playback: the current moment and its progress. Time is that of the run that lasts longest; every other run shows its last moment
// at or before it.

import type { Run } from "./data/run";

export class Player {
  readonly clockRun: Run;
  private moment = 0;
  private time = 0;
  private running = false;
  private last = 0;
  speed = 1;

  constructor(private readonly runs: Run[], private readonly changed: () => void) {
    this.clockRun = runs.reduce((longest, run) => (run.end > longest.end ? run : longest));
    this.time = this.clockRun.times[0] ?? 0;
  }

  get frame(): number {
    return this.moment;
  }

  get frames(): number {
    return this.clockRun.frames;
  }

  get now(): number {
    return this.clockRun.times[this.moment] ?? 0;
  }

  get playing(): boolean {
    return this.running;
  }

  /** The moment of every run. */
  frameOfRuns(): number[] {
    return this.runs.map((run) => (run === this.clockRun ? this.moment : run.frameAt(this.now)));
  }

  seek(frame: number): void {
    this.moment = Math.max(0, Math.min(this.frames - 1, Math.round(frame)));
    this.time = this.now;
    this.changed();
  }

  seekTime(time: number): void {
    this.pause();
    this.seek(this.clockRun.frameAt(time));
  }

  /** Moves by single moments. */
  step(by: number): void {
    this.pause();
    this.seek(this.moment + by);
  }

  toggle(): void {
    if (this.running) this.pause();
    else this.play();
  }

  pause(): void {
    if (!this.running) return;
    this.running = false;
    this.changed();
  }

  play(): void {
    if (this.moment >= this.frames - 1) this.seek(0);
    this.running = true;
    this.last = performance.now();
    this.changed();
    requestAnimationFrame((now) => this.tick(now));
  }

  private tick(now: number): void {
    if (!this.running) return;
    // A page in the background gets no frames; playback continues at the same time afterwards.
    const passed = Math.min(0.1, Math.max(0, now - this.last) / 1000);
    this.last = now;
    this.time += passed * this.speed;
    const frame = this.clockRun.frameAt(this.time);
    if (this.time >= this.clockRun.end) this.running = false;
    if (frame !== this.moment || !this.running) {
      this.moment = frame;
      this.changed();
    }
    if (this.running) requestAnimationFrame((next) => this.tick(next));
  }
}
