// The time that plots share: the part they show, and the moment, which a click or a drag in any of them sets.

export class Timeline {
  from: number;
  to: number;
  now: number;

  constructor(private readonly start: number, private readonly end: number, readonly spacing: number, private readonly seek: (time: number) => void, private readonly changed: () => void) {
    this.from = start;
    this.to = Math.max(end, start + 1e-9);
    this.now = start;
  }

  /** Scrubs by dragging, zooms by the wheel with Ctrl or Shift held, shows everything again on a double click. */
  listenTo(canvas: HTMLCanvasElement, edges: () => [number, number]): void {
    const timeAt = (event: MouseEvent): number => {
      const [left, right] = edges();
      return this.from + ((event.offsetX - left) / (right - left)) * (this.to - this.from);
    };
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      this.seek(timeAt(event));
    });
    canvas.addEventListener("pointermove", (event) => {
      if (event.buttons) this.seek(timeAt(event));
    });
    canvas.addEventListener("dblclick", () => this.look(this.start, this.end));
    canvas.addEventListener(
      "wheel",
      (event) => {
        if (!event.ctrlKey && !event.shiftKey) return;
        event.preventDefault();
        const factor = Math.exp((event.deltaY || event.deltaX) * 0.002);
        const middle = timeAt(event);
        this.look(middle + (this.from - middle) * factor, middle + (this.to - middle) * factor);
      },
      { passive: false },
    );
  }

  private look(from: number, to: number): void {
    this.from = Math.max(this.start, from);
    this.to = Math.min(Math.max(this.end, this.start + 1e-9), Math.max(to, this.from + 1e-6 * (this.end - this.start) + 1e-12));
    this.changed();
  }
}
