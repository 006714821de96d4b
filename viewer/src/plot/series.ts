// Quantities that can be plotted: every recorded column, every contact, and sets of them.

import type { Numbers } from "../data/payload";
import type { Run } from "../data/run";
import type { Curve } from "./decimate";

export interface Series extends Curve {
  name: string;
  unit: string;
}

/** Something to choose from the list. */
export interface Choice {
  id: string;
  name: string;
  group: "Sets" | "Columns" | "Contacts";
  unit: string;
}

/** Largest number of contacts in a set; more are illegible. */
const CONTACTS_IN_A_SET = 8;

/** Quantities of a contact, from the columns of its rows. */
const QUANTITIES: { key: string; name: string; unit: string; of: (run: Run, row: number) => number }[] = [
  { key: "gap", name: "gap", unit: "m", of: (run, row) => at(run, "gap", row) },
  { key: "normal-force", name: "normal force", unit: "N", of: (run, row) => at(run, "normal_impulse", row) / step(run, row) },
  { key: "friction-force", name: "friction force", unit: "N", of: (run, row) => size(run, "friction_impulse", row) / step(run, row) },
  { key: "slip-speed", name: "slip speed", unit: "m/s", of: (run, row) => size(run, "slip", row) },
];

const SETS: Choice[] = [
  { id: "set:energies", name: "Energies", group: "Sets", unit: "J" },
  { id: "set:gap", name: "Gaps", group: "Sets", unit: "m" },
  { id: "set:normal-force", name: "Normal forces", group: "Sets", unit: "N" },
  { id: "set:friction-force", name: "Friction forces", group: "Sets", unit: "N" },
  { id: "set:slip-speed", name: "Slip speeds", group: "Sets", unit: "m/s" },
  { id: "set:residual", name: "Residual", group: "Sets", unit: "" },
  { id: "set:errors", name: "Penetration and joint error", group: "Sets", unit: "m" },
];

const COLUMN_SETS: Record<string, string[]> = {
  "set:energies": ["kinetic", "potential", "total"],
  "set:residual": ["residual"],
  "set:errors": ["penetration", "joint_error"],
};

function at(run: Run, name: string, row: number): number {
  return run.contactColumn(name)?.[row] ?? NaN;
}

function size(run: Run, name: string, row: number): number {
  return Math.hypot(at(run, `${name}_x`, row), at(run, `${name}_y`, row), at(run, `${name}_z`, row));
}

function step(run: Run, row: number): number {
  return run.stepBefore[run.contactFrames[row]!] || run.head.step;
}

/** All choices whose names hold every word that was typed, up to a limit. */
export function choices(run: Run, search: string, limit: number): Choice[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const found: Choice[] = [];
  for (const choice of every(run)) {
    const name = choice.name.toLowerCase();
    if (words.every((word) => name.includes(word))) found.push(choice);
    if (found.length === limit) break;
  }
  return found;
}

function* every(run: Run): Generator<Choice> {
  const { contacts, columns } = run.head;
  for (const set of SETS) if (contacts.labels.length > 0 || set.id in COLUMN_SETS) yield set;
  for (const { name, unit } of columns) yield { id: `column:${name}`, name, group: "Columns", unit };
  for (const label of contacts.labels) {
    for (const { key, name, unit } of QUANTITIES) yield { id: `contact:${key}:${label}`, name: `${label} · ${name}`, group: "Contacts", unit };
    for (const { name, unit } of contacts.columns) yield { id: `raw:${name}:${label}`, name: `${label} · ${name}`, group: "Contacts", unit };
  }
}

/** The name of a choice, also of one that another run has. */
export function nameOf(id: string): string {
  const set = SETS.find((choice) => choice.id === id);
  if (set) return set.name;
  const [kind, ...rest] = id.split(":");
  if (kind === "column") return rest.join(":");
  const [key, ...label] = rest;
  return `${label.join(":")} · ${QUANTITIES.find((quantity) => quantity.key === key)?.name ?? key}`;
}

/** The curves of a choice for a run; none where it has no such column. */
export function curves(run: Run, id: string): Series[] {
  const [kind, ...rest] = id.split(":") as [string, ...string[]];
  if (kind === "column") return column(run, rest.join(":"));
  if (id in COLUMN_SETS) return COLUMN_SETS[id]!.flatMap((name) => column(run, name));
  if (kind === "set") return busiest(run).flatMap((label) => contact(run, rest[0]!, label, run.head.contacts.labels[label]!));
  const [key, ...words] = rest;
  const label = run.head.contacts.labels.indexOf(words.join(":"));
  if (label < 0) return [];
  return kind === "raw" ? raw(run, key!, label) : contact(run, key!, label, nameOf(id));
}

/** The contacts with the most moments. */
function busiest(run: Run): number[] {
  const { rows } = run.head.contacts;
  const order = rows.map((_, label) => label).sort((a, b) => rows[b]! - rows[a]! || a - b);
  return order.slice(0, CONTACTS_IN_A_SET).sort((a, b) => a - b);
}

function column(run: Run, name: string): Series[] {
  const y = run.column(name);
  return y ? [{ name, unit: run.unit(name), x: run.times, y }] : [];
}

function contact(run: Run, key: string, label: number, name: string): Series[] {
  const quantity = QUANTITIES.find((candidate) => candidate.key === key);
  return quantity ? [{ name, unit: quantity.unit, ...rowsOf(run, label, (row) => quantity.of(run, row)) }] : [];
}

function raw(run: Run, column: string, label: number): Series[] {
  const place = run.head.contacts.columns.find((candidate) => candidate.name === column);
  const name = `${run.head.contacts.labels[label]} · ${column}`;
  return place ? [{ name, unit: place.unit, ...rowsOf(run, label, (row) => at(run, column, row)) }] : [];
}

/** A quantity over the rows of a contact; where it was away for a while the line is broken. */
function rowsOf(run: Run, label: number, value: (row: number) => number): Curve {
  const [start, end] = [run.labelStart[label]!, run.labelStart[label + 1]!];
  const x: number[] = [];
  const y: number[] = [];
  for (let row = start; row < end; row++) {
    const frame = run.contactFrames[row]!;
    if (row > start && frame - run.contactFrames[row - 1]! > 1) {
      x.push(run.times[run.contactFrames[row - 1]! + 1]!);
      y.push(NaN);
    }
    x.push(run.times[frame]!);
    y.push(value(row));
  }
  return { x: Float64Array.from(x) as Numbers, y: Float64Array.from(y) as Numbers };
}
