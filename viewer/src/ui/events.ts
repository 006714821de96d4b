// List of contact events; a click goes to the time of the event.

import type { Run } from "../data/run";
import type { Player } from "../player";
import { closes, element } from "./element";

const LISTED = 500;

export function listEvents(run: Run, player: Player): () => void {
  const dialog = element<HTMLDialogElement>("events");
  const events = run.head.summary?.events ?? [];
  const total = run.head.summary?.events_total ?? 0;
  closes(dialog, element("events-done"));
  const open = element("events-open");
  open.hidden = total === 0;
  open.textContent = `${total.toLocaleString("en")} contact event${total === 1 ? "" : "s"}`;
  const show = (): void => {
    if (total > 0) dialog.showModal();
  };
  open.addEventListener("click", show);
  for (const event of events.slice(0, LISTED)) {
    const button = document.createElement("button");
    button.type = "button";
    for (const text of [`${Number(event.t.toPrecision(7))} s`, event.kind, event.contact]) button.append(Object.assign(document.createElement("span"), { textContent: text }));
    button.addEventListener("click", () => {
      dialog.close();
      player.seekTime(event.t);
    });
    const item = document.createElement("li");
    item.append(button);
    element("events-list").append(item);
  }
  element("events-count").textContent = total > LISTED ? `the first ${Math.min(LISTED, events.length)} of ${total.toLocaleString("en")}` : "";
  return show;
}
