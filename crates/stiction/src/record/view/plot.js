// The energy plot and the ticks of the slider.

class EnergyPlot {
  constructor(run) {
    this.run = run;
    const { frames } = run;
    this.t0 = frames[0].t;
    this.t1 = Math.max(frames[frames.length - 1].t, this.t0 + 1e-9);
    this.curves = {
      kinetic: frames.map((frame) => frame.energy[0]),
      potential: frames.map((frame) => frame.energy[1]),
      total: frames.map((frame) => frame.energy[0] + frame.energy[1]),
    };
    const all = Object.values(this.curves).flat();
    const low = all.reduce((a, b) => Math.min(a, b), 0), high = all.reduce((a, b) => Math.max(a, b), 0);
    this.low = low;
    this.high = high > low ? high + 0.06 * (high - low) : low + 1;
    this.size = Math.max(Math.abs(low), Math.abs(high));
  }

  place(width, height) {
    const left = 52, right = 10, top = 8, bottom = 20;
    this.x = (t) => left + ((t - this.t0) / (this.t1 - this.t0)) * (width - left - right);
    this.y = (e) => height - bottom - ((e - this.low) / (this.high - this.low)) * (height - top - bottom);
    this.timeAt = (x) => this.t0 + ((x - left) / (width - left - right)) * (this.t1 - this.t0);
    Object.assign(this, { left, right, top, bottom, width, height });
  }

  draw(g, colours, number, width, height) {
    this.place(width, height);
    g.clearRect(0, 0, width, height);
    g.font = "11px ui-sans-serif, system-ui, sans-serif";
    g.lineWidth = 1;
    this.scales(g, colours);
    g.lineJoin = "round";
    for (const [name, values] of Object.entries(this.curves)) {
      g.strokeStyle = colours[name];
      g.lineWidth = name === "total" ? 1.75 : 1.5;
      g.beginPath();
      values.forEach((e, k) => {
        const x = this.x(this.run.frames[k].t), y = this.y(e);
        if (k) g.lineTo(x, y);
        else g.moveTo(x, y);
      });
      g.stroke();
    }
    this.cursor(g, colours, number);
  }

  scales(g, colours) {
    g.strokeStyle = colours.line;
    g.fillStyle = colours.soft;
    const rise = roundNumber((this.high - this.low) / 3.5);
    g.textAlign = "right";
    g.textBaseline = "middle";
    for (let e = Math.ceil(this.low / rise) * rise; e <= this.high + 1e-9 * rise; e += rise) {
      const y = Math.round(this.y(e)) + 0.5;
      g.beginPath();
      g.moveTo(this.left, y);
      g.lineTo(this.width - this.right, y);
      g.stroke();
      g.fillText(+e.toPrecision(3) + " J", this.left - 6, y);
    }
    const span = roundNumber((this.t1 - this.t0) / Math.max(2, this.width / 130));
    g.textAlign = "center";
    g.textBaseline = "bottom";
    for (let t = Math.ceil(this.t0 / span) * span; t <= this.t1 + 1e-9; t += span) {
      const x = Math.min(this.x(t), this.width - 16);
      g.fillText(+t.toPrecision(4) + " s", x, this.height - 2);
    }
  }

  cursor(g, colours, number) {
    const frame = this.run.frames[number], x = this.x(frame.t);
    g.strokeStyle = colours.accent;
    g.lineWidth = 1;
    g.beginPath();
    g.moveTo(x, this.top);
    g.lineTo(x, this.height - this.bottom);
    g.stroke();
    for (const [name, values] of Object.entries(this.curves)) {
      g.fillStyle = colours[name];
      g.beginPath();
      g.arc(x, this.y(values[number]), 3, 0, 2 * Math.PI);
      g.fill();
    }
  }
}

/** Marks under the slider where contacts change. */
function drawTicks(g, colours, run, width, height) {
  g.clearRect(0, 0, width, height);
  const { frames, events } = run;
  const t0 = frames[0].t, t1 = Math.max(frames[frames.length - 1].t, t0 + 1e-9), thumb = 8;
  for (const event of events) {
    const x = thumb + ((event.t - t0) / (t1 - t0)) * (width - 2 * thumb);
    g.fillStyle = event.kind === "slip" ? colours.slip : event.kind === "stick" ? colours.stick : colours.soft;
    g.globalAlpha = 0.85;
    g.fillRect(x - 0.75, event.kind === "touch" || event.kind === "separate" ? 0 : height * 0.35, 1.5, height);
  }
  g.globalAlpha = 1;
}
