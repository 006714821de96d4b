// The runs of this page.

import { FORMAT, type PageHead } from "./head";
import { Payload, decodeBase64 } from "./payload";
import { Run } from "./run";

function text(id: string): string {
  return document.getElementById(id)?.textContent ?? "";
}

/** Reads the data of the page, or throws an error. */
export function readPage(): Run[] {
  const head = JSON.parse(text("head")) as PageHead;
  if (head.format !== FORMAT) throw new Error("this page holds no run: `stiction run` and `stiction view` make pages with runs");
  const payload = new Payload(decodeBase64(text("data")));
  return head.runs.map((run) => new Run(run, payload));
}
