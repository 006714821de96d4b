// Keyboard shortcuts of the buttons; fields and lists keep their own keys.

import { element } from "./element";

/** A key by its name in key events, with its action. */
export type Keys = Map<string, (event: KeyboardEvent) => void>;

export const HELP: [string[], string][] = [
  [["space"], "play and pause"],
  [["←", "→"], "one moment back and forward; ten with shift"],
  [["Home", "End"], "first and last moment"],
  [["<", ">"], "slower and faster"],
  [["1", "2", "3", "4"], "views: orbit, front, side, top (1 fits a planar scene)"],
  [["+", "−"], "zoom in and out"],
  [["C", "F", "K"], "contacts, forces, friction cones"],
  [["J", "T", "X"], "joints and springs, trails, body frames"],
  [["P"], "add a plot"],
  [["E"], "list of contact events"],
  [["D"], "light and dark"],
  [["?"], "this help"],
];

export function listen(keys: Keys): void {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    const target = event.target as HTMLElement;
    const typing = target.matches("input[type=search], select");
    // Space presses the button that has the focus; arrows belong to the slider that has it.
    const own = (event.key === " " && target.matches("button, summary, input")) || (event.key.startsWith("Arrow") && target.matches("input[type=range]:not(#slider)"));
    if (typing || own) return;
    const action = keys.get(event.key.length === 1 ? event.key.toLowerCase() : event.key);
    if (!action) return;
    event.preventDefault();
    action(event);
  });
}

export function fillHelp(): void {
  const list = document.createElement("dl");
  for (const [names, text] of HELP) {
    const term = document.createElement("dt");
    for (const name of names) term.append(Object.assign(document.createElement("kbd"), { textContent: name }), " ");
    list.append(term, Object.assign(document.createElement("dd"), { textContent: text }));
  }
  const notes = [
    "In space, drag turns the view, drag with the right button or two fingers moves it, the wheel zooms. In the plane, drag moves it.",
    "A square sticks, a triangle slips, a ring is open. Arrows are forces on the second body of a contact; the slider under Show makes them longer.",
    "Click or drag in a plot to go to a moment; the wheel with shift zooms in time, a double click shows everything again.",
  ];
  element("help-body").append(list, ...notes.map((text) => Object.assign(document.createElement("p"), { textContent: text })));
}
