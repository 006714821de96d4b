// Fills the page from the comparison.

const comparison = JSON.parse(document.getElementById("comparison").textContent);
const byId = (id) => document.getElementById(id);

const COSTS = [
  ["time", "time (s)", (row) => row.cost.wall_seconds],
  ["steps", "steps", (row) => row.cost.steps],
  ["iterations", "solver iterations", (row) => row.cost.iterations],
];

const ERRORS = [
  ["velocity error", (row) => short(row.errors.velocity)],
  ["order", (row) => order(row.orders.velocity)],
  ["position error", (row) => short(row.errors.position)],
  ["order", (row) => order(row.orders.position)],
  ["variation", (row) => short(row.variation)],
  ["heading (°)", (row) => row.errors.heading === null ? "–" : short((row.errors.heading * 180) / Math.PI)],
];

const COSTS_AND_BALANCES = [
  ["steps", (row) => row.cost.halved ? `${row.cost.steps} (${row.cost.halved} halved)` : row.cost.steps],
  ["iterations", (row) => row.cost.iterations],
  ["time (ms)", (row) => short(row.cost.wall_seconds * 1e3)],
  ["infeasible", (row) => short(row.infeasibility.total.final)],
  ["joints", (row) => short(row.infeasibility.joints.final)],
  ["energy (J)", (row) => short(row.energy.final - row.energy.initial)],
  ["gain (J)", (row) => short(row.energy.max_gain)],
  ["slip (m)", (row) => short(row.slip)],
  ["residual", (row) => short(row.residual.max)],
];

function order(p) {
  return p === null ? "" : p.toFixed(2);
}

/** The schemes that ran, in the order of the rows, each with its number. */
const schemes = [...new Set(comparison.rows.map((row) => row.preset))].map((name, number) => ({ name, number, on: true }));
const charts = { velocity: new Chart(byId("velocity"), byId("tip")), position: new Chart(byId("position"), byId("tip")) };

function draw() {
  const [name, title, cost] = COSTS.find(([name]) => name === byId("cost").value);
  for (const [norm, chart] of Object.entries(charts)) {
    const series = schemes.filter((scheme) => scheme.on).map(({ name, number }) => {
      const rows = comparison.rows.filter((row) => row.preset === name && row.errors);
      const text = (row) => `step ${row.step} s\nerror ${short(row.errors[norm])}\n${title} ${short(cost(row))}`;
      return { name, number, points: rows.map((row) => ({ cost: cost(row), error: row.errors[norm], text: text(row) })) };
    });
    chart.draw(series, title, comparison.truth.resolution[norm], name !== "iterations");
  }
}

function legend() {
  for (const scheme of schemes) {
    const button = document.createElement("button");
    button.type = "button";
    button.setAttribute("aria-pressed", "true");
    const key = element("svg", { viewBox: "0 0 26 14", class: "series", style: tone(scheme.number), "aria-hidden": "true" });
    element("path", { d: "M0,7H26" }, key);
    element("path", { d: markPath(scheme.number, 13, 7, 4), class: "mark" }, key);
    button.append(key, scheme.name);
    button.addEventListener("click", () => {
      scheme.on = !scheme.on;
      button.setAttribute("aria-pressed", String(scheme.on));
      draw();
    });
    byId("legend").append(button);
  }
  for (const [value, label] of COSTS) byId("cost").append(new Option(label, value));
  byId("cost").addEventListener("change", draw);
}

function cell(row, text, tag = "td") {
  const node = document.createElement(tag);
  node.textContent = text;
  row.append(node);
  return node;
}

/** A row per run; a run that failed has no errors. */
function table(id, columns, whatFailedHasNone) {
  const head = document.createElement("tr");
  for (const title of ["scheme", "step (s)", ...columns.map(([title]) => title)]) cell(head, title, "th");
  byId(id).createTHead().append(head);
  const body = byId(id).createTBody();
  let last = null;
  for (const row of comparison.rows) {
    const line = document.createElement("tr");
    if (row.preset !== last) line.className = "first";
    last = row.preset;
    const name = cell(line, "");
    const dot = document.createElement("i");
    dot.setAttribute("style", tone(schemes.find((scheme) => scheme.name === row.preset).number));
    name.append(dot, row.preset);
    cell(line, String(row.step));
    if (row.outcome.failed && whatFailedHasNone) {
      const failed = cell(line, `failed in step ${row.outcome.failed.step}`);
      failed.className = "failed";
      failed.colSpan = columns.length;
    } else {
      for (const [, value] of columns) cell(line, value(row));
    }
    body.append(line);
  }
}

function list(id, entries) {
  byId(`${id}-card`).hidden = entries.length === 0;
  for (const [name, text] of entries) {
    const item = document.createElement("li");
    const label = document.createElement("b");
    label.textContent = name;
    item.append(label, text);
    byId(id).append(item);
  }
}

function words() {
  const { scene, until, truth, components, version, interrupted } = comparison;
  document.title = `${scene} · stiction compare`;
  byId("title").textContent = scene || "comparison";
  const stopped = interrupted ? " Stopped on request: runs are missing." : "";
  byId("subtitle").textContent =
    `${schemes.length} schemes over ${until} s, ${components} velocity components, measured against ` +
    `${truth.preset} in steps of ${truth.step} s.${stopped}`;
  byId("note").textContent =
    "Lower is more accurate, further left is cheaper. Errors below the resolution of the reference solution " +
    `(velocity ${short(truth.resolution.velocity)}, position ${short(truth.resolution.position)}) are not significant.`;
  byId("footer").textContent = `stiction ${version}`;
  list("refusals", [
    ...truth.rejected_candidates.map((refusal) => [`${refusal.preset}, as the reference solution`, refusal.reason]),
    ...comparison.refusals.map((refusal) => [refusal.preset, refusal.reason]),
  ]);
  const failed = comparison.rows.filter((row) => row.outcome.failed);
  list("failures", failed.map((row) => {
    const { step, time, cause } = row.outcome.failed;
    return [`${row.preset}, step ${row.step} s`, `in step ${step} from t = ${short(time)} s: ${cause}`];
  }));
}

words();
legend();
table("errors", ERRORS, true);
table("costs", COSTS_AND_BALANCES, false);
draw();
