// Description of the runs of a page, as the program writes it.

export interface Packed {
  at: number;
  bytes: number;
  values: number;
  base: number | null;
}

export interface ColumnHead extends Packed {
  name: string;
  unit: string;
}

export type Triple = [number, number, number];

export type Outline =
  | { kind: "point"; at: Triple }
  | { kind: "round"; at: Triple; radius: number }
  | { kind: "capsule"; from: Triple; to: Triple; radius: number }
  | { kind: "ellipse"; at: Triple; first: Triple; second: Triple }
  | { kind: "polygon"; vertices: Triple[] }
  | { kind: "polyhedron"; vertices: Triple[]; edges: [number, number][] }
  | { kind: "half-space"; at: Triple; normal: Triple };

export type Role = "fixed" | "kinematic" | "planar-particle" | "planar" | "particle" | "free";

export interface SupportPointHead {
  at: Triple;
  load: number;
  friction: number;
}

export interface BodyHead {
  name: string;
  role: Role;
  position: Triple;
  orientation: [number, number, number, number];
  column: number | null;
  outlines: Outline[];
  support_points: SupportPointHead[];
  support_column: number | null;
}

export interface LinkHead {
  kind: string;
  a: number;
  at_a: Triple;
  b: number;
  at_b: Triple;
}

export interface EventHead {
  t: number;
  kind: string;
  contact: string;
}

export interface SummaryHead {
  preset: string;
  solver: string;
  ending: "finished" | "interrupted" | { failed: string };
  steps: number;
  duration: number;
  events_total: number;
  events: EventHead[];
}

export interface RunHead {
  label: string;
  scene: string;
  version: string;
  dimension: 2 | 3;
  step: number;
  recorded: number;
  stride: number;
  frames: number;
  bodies: BodyHead[];
  links: LinkHead[];
  time: [Packed, Packed];
  step_before: Packed;
  columns: ColumnHead[];
  contacts: { labels: string[]; rows: number[]; frame: Packed; mode: Packed; columns: ColumnHead[] };
  cut: boolean;
  summary: SummaryHead | null;
}

export interface PageHead {
  format: number;
  runs: RunHead[];
}

export const FORMAT = 1;
