// Puts the page together: reads the runs, builds scene, plots and controls, and connects them.

import "./style.css";
import { readPage } from "./data/page";
import type { Run } from "./data/run";
import { Player } from "./player";
import { PlotPanel } from "./plot/panel";
import { Stage } from "./scene/stage";
import { describe, refuse } from "./ui/about";
import { closes, element } from "./ui/element";
import { listEvents } from "./ui/events";
import { type Keys, fillHelp, listen } from "./ui/keyboard";
import { Legend } from "./ui/legend";
import { drawRuler } from "./ui/ruler";
import { Theme } from "./ui/theme";
import { Toggles } from "./ui/toggles";
import { Transport } from "./ui/transport";

/** Performance mark of the first drawn scene. */
const DRAWN = "stiction-drawn";

/** The scene, or null where the browser has no WebGL: plots work without. */
function openStage(runs: Run[]): Stage | null {
  try {
    return new Stage(element<HTMLCanvasElement>("scene"), runs);
  } catch (error) {
    console.error(error);
    for (const id of ["views", "show", "legend", "ruler"]) element(id).hidden = true;
    element("banner").hidden = false;
    element("banner").textContent += `This browser cannot draw the scene (${error instanceof Error ? error.message : "no WebGL"}); the plots are complete.`;
    return null;
  }
}

function open(runs: Run[]): void {
  const theme = new Theme(element<HTMLButtonElement>("theme"));
  describe(runs);
  const first = runs[0]!;
  const stage = openStage(runs);
  const player = new Player(runs, () => show());
  const transport = new Transport(player, first);
  const plots = new PlotPanel(runs, player);
  const showEvents = listEvents(first, player);
  const keys: Keys = new Map();
  const repaint: (() => void)[] = [() => stage?.paint(), () => plots.draw(), () => transport.mark()];
  if (stage) {
    const toggles = new Toggles(stage, first.spatial, () => legend.draw());
    const legend = new Legend(runs, toggles, (run, visible) => {
      stage.showRun(run, visible);
      plots.hideRun(run, !visible);
    });
    legend.draw();
    repaint.push(() => legend.draw());
    for (const [key, action] of toggles.keys) keys.set(key, action);
    stage.onDraw = () => {
      drawRuler(stage.eye.pixel(), !first.spatial);
      if (performance.getEntriesByName(DRAWN).length === 0) performance.mark(DRAWN);
    };
    element("stretch-label").hidden = !stage.contacts.hasForces;
  }
  theme.onChange(() => repaint.forEach((paint) => paint()));
  const help = element<HTMLDialogElement>("help");
  closes(help, element("help-done"));
  fillHelp();
  element("help-open").addEventListener("click", () => help.showModal());
  const far = (event: KeyboardEvent): number => (event.shiftKey ? 10 : 1);
  keys.set(" ", () => player.toggle());
  keys.set("ArrowLeft", (event) => player.step(-far(event)));
  keys.set("ArrowRight", (event) => player.step(far(event)));
  keys.set("Home", () => player.step(-player.frames));
  keys.set("End", () => player.step(player.frames));
  keys.set("<", () => transport.changeSpeed(-1));
  keys.set(">", () => transport.changeSpeed(1));
  keys.set("p", () => plots.choose());
  keys.set("e", showEvents);
  keys.set("d", () => theme.next());
  keys.set("?", () => help.showModal());
  listen(keys);

  function show(): void {
    stage?.show(player.frameOfRuns());
    transport.show();
    plots.show();
  }
  // A link may name the moment to show: view.html#t=0.4
  const wanted = /^#t=([0-9.eE+-]+)$/.exec(location.hash);
  player.seek(wanted ? player.clockRun.frameAt(Number(wanted[1])) : 0);
  document.documentElement.dataset["ready"] = "true";
}

/** Opens the runs of the page after the browser has painted what needs no data. */
requestAnimationFrame(() => {
  setTimeout(() => {
    try {
      open(readPage());
    } catch (error) {
      refuse(error);
      throw error;
    }
  });
});
