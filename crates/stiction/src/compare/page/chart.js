// A work-precision plot: error against cost, both logarithmic, one line per scheme.

const SVG = "http://www.w3.org/2000/svg";
const TONES = 8;

function element(name, attributes = {}, parent = null, text = null) {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text !== null) node.textContent = text;
  if (parent) parent.appendChild(node);
  return node;
}

/** Marks differ by shape as well as by colour. */
const MARKS = [
  (x, y, r) => `M${x - r},${y}a${r},${r} 0 1 0 ${2 * r},0a${r},${r} 0 1 0 ${-2 * r},0Z`,
  (x, y, r) => `M${x - r},${y - r}h${2 * r}v${2 * r}h${-2 * r}Z`,
  (x, y, r) => `M${x},${y - 1.3 * r}L${x + 1.2 * r},${y + 0.9 * r}H${x - 1.2 * r}Z`,
  (x, y, r) => `M${x},${y - 1.35 * r}L${x + 1.35 * r},${y}L${x},${y + 1.35 * r}L${x - 1.35 * r},${y}Z`,
  (x, y, r) => `M${x},${y + 1.3 * r}L${x + 1.2 * r},${y - 0.9 * r}H${x - 1.2 * r}Z`,
  (x, y, r) => `M${x - r},${y - 0.4 * r}L${x},${y - 1.3 * r}L${x + r},${y - 0.4 * r}L${x + 0.7 * r},${y + r}H${x - 0.7 * r}Z`,
];

function markPath(number, x, y, r) {
  return MARKS[number % MARKS.length](x, y, r);
}

function tone(number) {
  return `--tone: var(--tone-${number % TONES})`;
}

/** Powers of ten in a range of logarithms; with few of them also twice and five times as much. */
function ticks(low, high) {
  const decades = [];
  for (let k = Math.floor(low); k <= Math.ceil(high); k++) decades.push(k);
  const factors = high - low < 3.2 ? [1, 2, 5] : [1];
  const stride = Math.max(1, Math.ceil((high - low) / 7));
  return decades
    .filter((k) => k % stride === 0)
    .flatMap((k) => factors.map((f) => f * 10 ** k))
    .filter((value) => Math.log10(value) >= low - 1e-9 && Math.log10(value) <= high + 1e-9);
}

function short(x) {
  if (x === 0 || x === null || x === undefined) return x === 0 ? "0" : "–";
  const size = Math.abs(x);
  return size >= 1e-3 && size < 1e5 ? String(+x.toPrecision(4)) : x.toExponential(2);
}

function tickLabel(x) {
  return x >= 1e-3 && x < 1e5 ? String(+x.toPrecision(3)) : x.toExponential(0).replace("+", "");
}

/** The range of logarithms of positive numbers, with room around it. */
function range(values) {
  const logs = values.filter((x) => x > 0 && Number.isFinite(x)).map(Math.log10);
  if (!logs.length) return null;
  const low = Math.min(...logs), high = Math.max(...logs), room = Math.max(0.12, 0.06 * (high - low));
  return [low - room, high + room];
}

class Chart {
  constructor(svg, tip) {
    this.svg = svg;
    this.tip = tip;
    this.width = 620;
    this.height = 400;
    this.frame = { left: 66, right: 14, top: 12, bottom: 46 };
    svg.setAttribute("viewBox", `0 0 ${this.width} ${this.height}`);
  }

  /** `series`: [{ number, name, points: [{ cost, error, text }] }]; `floor`: errors below it say nothing. */
  draw(series, costName, floor, firstOrder) {
    this.svg.replaceChildren();
    const points = series.flatMap((s) => s.points);
    const xs = range(points.map((p) => p.cost)), ys = range(points.map((p) => p.error));
    if (!xs || !ys) {
      const middle = { x: this.width / 2, y: this.height / 2, "text-anchor": "middle" };
      element("text", middle, this.svg, "no errors to show");
      return;
    }
    this.scale(xs, ys);
    this.axes(xs, ys, costName);
    if (Math.log10(floor) > ys[0] && Math.log10(floor) < ys[1]) this.floor(floor);
    if (firstOrder) this.guide(xs, ys);
    for (const line of series) this.line(line);
  }

  scale([x0, x1], [y0, y1]) {
    const { left, right, top, bottom } = this.frame;
    this.x = (value) => left + ((Math.log10(value) - x0) / (x1 - x0)) * (this.width - left - right);
    this.y = (value) => this.height - bottom - ((Math.log10(value) - y0) / (y1 - y0)) * (this.height - top - bottom);
  }

  axes(xs, ys, costName) {
    const { left, right, top, bottom } = this.frame, base = this.height - bottom;
    for (const value of ticks(...xs)) {
      const x = this.x(value);
      element("line", { x1: x, x2: x, y1: top, y2: base, class: "gridline" }, this.svg);
      element("text", { x, y: base + 18, "text-anchor": "middle" }, this.svg, tickLabel(value));
    }
    for (const value of ticks(...ys)) {
      const y = this.y(value);
      element("line", { x1: left, x2: this.width - right, y1: y, y2: y, class: "gridline" }, this.svg);
      element("text", { x: left - 8, y: y + 4, "text-anchor": "end" }, this.svg, tickLabel(value));
    }
    element("line", { x1: left, x2: this.width - right, y1: base, y2: base, class: "axis" }, this.svg);
    element("line", { x1: left, x2: left, y1: top, y2: base, class: "axis" }, this.svg);
    const centre = (left + this.width - right) / 2;
    element("text", { x: centre, y: this.height - 6, "text-anchor": "middle" }, this.svg, costName);
  }

  floor(value) {
    const { left, right } = this.frame, y = this.y(value);
    element("line", { x1: left, x2: this.width - right, y1: y, y2: y, class: "floor" }, this.svg);
    element("text", { x: left + 6, y: y - 5 }, this.svg, "resolution of the reference");
  }

  /** The slope of a scheme whose error halves when the steps double, in the corner that curves leave free. */
  guide([x0, x1], [y0, y1]) {
    const length = Math.min(x1 - x0, y1 - y0) * 0.22;
    const [toX, toY] = [10 ** (x0 + 0.03 * (x1 - x0) + length), 10 ** (y0 + 0.04 * (y1 - y0))];
    const ends = { x1: this.x(toX / 10 ** length), y1: this.y(toY * 10 ** length), x2: this.x(toX), y2: this.y(toY) };
    element("line", { ...ends, class: "guide" }, this.svg);
    element("text", { x: ends.x2 + 6, y: ends.y2 + 2 }, this.svg, "first order");
  }

  line({ number, name, points }) {
    const group = element("g", { class: "series", style: tone(number) }, this.svg);
    const shown = points.filter((p) => p.cost > 0 && p.error > 0);
    if (!shown.length) return;
    const d = shown.map((p, k) => `${k ? "L" : "M"}${this.x(p.cost).toFixed(1)},${this.y(p.error).toFixed(1)}`);
    element("path", { d: d.join("") }, group);
    for (const point of shown) {
      const d = markPath(number, this.x(point.cost), this.y(point.error), 4.5);
      const mark = element("path", { d, class: "mark", tabindex: 0, "aria-label": `${name}: ${point.text}` }, group);
      mark.addEventListener("pointerenter", (event) => this.tell(event.clientX, event.clientY, name, point.text));
      mark.addEventListener("focus", () => {
        const box = mark.getBoundingClientRect();
        this.tell(box.right, box.top, name, point.text);
      });
      for (const leaving of ["pointerleave", "blur"]) mark.addEventListener(leaving, () => (this.tip.hidden = true));
    }
  }

  tell(x, y, name, text) {
    this.tip.textContent = `${name}\n${text}`;
    this.tip.hidden = false;
    const left = Math.min(x + 12, document.documentElement.clientWidth - this.tip.offsetWidth - 8);
    this.tip.style.left = `${Math.max(8, left)}px`;
    this.tip.style.top = `${Math.max(8, y - this.tip.offsetHeight - 8)}px`;
  }
}
