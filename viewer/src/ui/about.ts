// Title, facts and failures.

import type { Run } from "../data/run";
import { element } from "./element";

const plural = (n: number, one: string): string => `${n.toLocaleString("en")} ${one}${n === 1 ? "" : "s"}`;

export function describe(runs: Run[]): void {
  const { head, movingCount: moving } = runs[0]!;
  element("title").textContent = head.scene;
  document.title = `${head.scene} · stiction`;
  const facts = [
    ...(head.summary ? [head.summary.preset] : []),
    `step ${Number(head.step.toPrecision(6))} s`,
    plural(head.recorded, "moment"),
    ...(head.stride > 1 ? [`one in ${head.stride} shown`] : []),
    moving === 1 ? "1 moving body" : `${moving.toLocaleString("en")} moving bodies`,
    `stiction ${head.version}`,
  ];
  element("facts").textContent = facts.join(" · ");
  const troubles = runs.flatMap((run) => trouble(run).map((text) => (runs.length > 1 ? `${run.head.label}: ${text}` : text)));
  element("banner").hidden = troubles.length === 0;
  element("banner").textContent = troubles.join("\n");
}

/** Message about a run that did not finish. */
function trouble(run: Run): string[] {
  const { summary } = run.head;
  if (!summary) return ["This run was truncated: it has no summary. The recorded part is shown."];
  if (run.head.cut) return ["This recording was truncated. The complete part is shown."];
  if (summary.ending === "interrupted") return [`Stopped on request at t = ${Number(summary.duration.toPrecision(6))} s.`];
  if (typeof summary.ending === "object") return [`The simulation failed at t = ${Number(summary.duration.toPrecision(6))} s, after ${plural(summary.steps, "step")}: ${summary.ending.failed}`];
  return [];
}

/** Shows why the page has no content. */
export function refuse(error: unknown): void {
  element("banner").hidden = false;
  element("banner").textContent = `Nothing to show: ${error instanceof Error ? error.message : String(error)}`;
  element("facts").textContent = "";
}
