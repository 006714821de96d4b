// The page in a real browser, opened from disk: planar and spatial runs that the program made just before.

import assert from "node:assert/strict";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { deflateSync } from "node:zlib";
import type { Browser } from "playwright-core";
import { Visit, changedScene, difference, looksLike, openBrowser, record, stiction } from "./world";

const HOSTILE = "</script><script>alert(1)</script>";
const HOSTILE_TOO = "<img src=x onerror=alert(2)>";
/** Share of pixels: other drivers draw edges a little differently. A ball or a set of marks that is missing is more. */
const TOLERANCE = 0.0025;

let browser: Browser;
let planar: string;
let spatial: string;

before(async () => {
  [planar, spatial] = [record("falling_rod", "planar"), record("four_balls", "spatial")];
  browser = await openBrowser();
});
after(() => browser?.close());

const page = (folder: string): string => path.join(folder, "view.html");

for (const [name, folder] of [["planar", () => planar], ["spatial", () => spatial]] as const) {
  test(`a ${name} run plays, scrubs and steps`, async () => {
    const visit = await Visit.of(browser, page(folder()));
    assert.equal(await visit.moment(), 0);
    await visit.page.click("#play");
    await visit.page.waitForFunction(() => Number((document.getElementById("slider") as HTMLInputElement).value) > 3);
    await visit.page.click("#play");
    const stopped = await visit.moment();
    await visit.settle();
    assert.equal(await visit.moment(), stopped);
    await visit.page.click("#forward");
    assert.equal(await visit.moment(), stopped + 1);
    await visit.page.keyboard.press("ArrowLeft");
    assert.equal(await visit.moment(), stopped);
    await visit.page.keyboard.press("End");
    assert.equal(await visit.moment(), Number(await visit.page.getAttribute("#slider", "max")));
    await visit.page.keyboard.press("Shift+ArrowLeft");
    assert.equal(await visit.moment(), Number(await visit.page.getAttribute("#slider", "max")) - 10);
    await visit.seek(0.5);
    assert.match((await visit.page.textContent("#clock")) ?? "", /^0\.5/);
    await visit.close();
  });

  test(`a ${name} run looks as it did, and forces, cones, trails and frames change the picture`, async () => {
    const visit = await Visit.of(browser, page(folder()));
    await visit.seek(0.55);
    const shown = await visit.picture();
    await looksLike(browser, shown, name, TOLERANCE);
    for (const key of ["f", "k", "t", "x", "c"]) {
      const before = await visit.picture();
      await visit.page.keyboard.press(key);
      assert.ok((await difference(browser, before, await visit.picture())) > 0, `key ${key} changes nothing`);
    }
    for (const key of ["c", "x", "t", "k", "f"]) await visit.page.keyboard.press(key);
    assert.equal(await difference(browser, shown, await visit.picture()), 0);
    await visit.close();
  });
}

test("space is seen from all sides, and dark looks as it did", async () => {
  const visit = await Visit.of(browser, page(spatial), 640, 480, "dark");
  await visit.seek(0.55);
  await looksLike(browser, await visit.picture(), "dark", TOLERANCE);
  const pictures: Buffer[] = [];
  for (const view of ["Orbit", "Front", "Side", "Top"]) {
    await visit.page.getByRole("button", { name: `${view} view` }).click();
    for (const picture of pictures) assert.ok((await difference(browser, picture, await visit.picture())) > 0.01, view);
    pictures.push(await visit.picture());
  }
  await visit.page.mouse.move(320, 200);
  await visit.page.mouse.down();
  await visit.page.mouse.move(400, 230);
  await visit.page.mouse.up();
  assert.ok((await difference(browser, pictures[3]!, await visit.picture())) > 0, "dragging turns the view");
  await visit.page.keyboard.press("d");
  assert.equal(await visit.page.getAttribute("html", "data-theme"), "light");
  await visit.close();
});

test("any column is found by typing and plotted with the numbers of the recording", async () => {
  const visit = await Visit.of(browser, page(planar), 1200, 800);
  await visit.page.keyboard.press("p");
  await visit.page.fill("#picker-search", "rod.x");
  await visit.page.getByRole("checkbox", { name: "rod.x m" }).check();
  await visit.page.fill("#picker-search", "normal forces");
  await visit.page.getByRole("checkbox", { name: "Normal forces" }).uncheck();
  await visit.page.click("#picker-done");
  await visit.page.keyboard.press("End");
  await visit.settle();
  const plot = visit.page.locator(".plot").nth(1);
  const summary = JSON.parse(readFileSync(path.join(planar, "summary.json"), "utf8"));
  const value = Number(/rod\.x (\S+) m/.exec((await plot.locator(".plot-values").textContent()) ?? "")?.[1]);
  const recorded = summary.bodies.rod.position[0] as number;
  assert.ok(Math.abs(value - recorded) <= 1e-3 * Math.abs(recorded), `${value} in the plot, ${recorded} in the summary`);
  const box = (await plot.locator("canvas").boundingBox())!;
  // A quarter of the way between the margins of the plot.
  await visit.page.mouse.click(box.x + 58 + 0.25 * (box.width - 58 - 14), box.y + box.height / 2);
  const share = (await visit.moment()) / Number(await visit.page.getAttribute("#slider", "max"));
  assert.ok(Math.abs(share - 0.25) < 0.01, `a click went to ${share}`);
  await visit.close();
});

test("events lead to their moments and help lists the keys", async () => {
  const visit = await Visit.of(browser, page(planar), 1000, 800);
  await visit.page.keyboard.press("e");
  await visit.page.locator("#events-list button").first().click();
  assert.match((await visit.page.textContent("#clock")) ?? "", /^0\.385/);
  await visit.page.keyboard.press("?");
  assert.ok(await visit.page.getByRole("heading", { name: "Keys and colours" }).isVisible());
  await visit.page.keyboard.press("Escape");
  assert.ok(!(await visit.page.getByRole("heading", { name: "Keys and colours" }).isVisible()));
  await visit.close();
});

test("on a phone everything fits the width, can be touched, and has a name", async () => {
  const visit = await Visit.of(browser, page(spatial), 1200, 800);
  await visit.page.setViewportSize({ width: 390, height: 844 });
  await visit.settle();
  const facts = await visit.page.evaluate(() => {
    const controls = [...document.querySelectorAll<HTMLElement>("button, input, select, summary, canvas")].filter((control) => control.checkVisibility());
    const named = (control: HTMLElement): string => control.getAttribute("aria-label") ?? (control as HTMLInputElement).labels?.[0]?.textContent ?? control.textContent ?? "";
    return {
      overflow: document.documentElement.scrollWidth - innerWidth,
      nameless: controls.filter((control) => control.ariaHidden !== "true" && !control.closest("[aria-hidden=true]") && !named(control).trim()).map((control) => control.outerHTML.slice(0, 80)),
      small: controls.filter((control) => control.matches("#transport button, #views button, select") && control.getBoundingClientRect().height < 40).map((control) => control.id),
    };
  });
  assert.deepEqual(facts, { overflow: 0, nameless: [], small: [] });
  await visit.close();
});

test("ten thousand moments in the plane: below 5 MB, none left out, painted soon", async () => {
  const folder = record("falling_rod", "long", "--step", "0.0001");
  const bytes = statSync(page(folder)).size;
  assert.ok(bytes < 5e6, `${bytes} bytes`);
  const visit = await Visit.of(browser, page(folder), 1200, 800);
  assert.equal(await visit.page.getAttribute("#slider", "max"), "10000");
  await visit.settle();
  const times = await visit.page.evaluate(() => {
    const paint = (name: string): number => performance.getEntriesByName(name)[0]?.startTime ?? NaN;
    return [paint("first-paint"), paint("first-contentful-paint"), paint("stiction-drawn")].map((time) => time / 1000);
  });
  // Times are told, not judged: the machine may be busy.
  console.log(`view.html of 10,001 moments: ${(bytes / 1e6).toFixed(2)} MB; first paint after ${times[0]!.toFixed(2)} s, with content ${times[1]!.toFixed(2)} s, scene drawn ${times[2]!.toFixed(2)} s`);
  assert.ok(times.every(Number.isFinite));
  await visit.close();
});

test("runs laid over each other have their names and can be hidden", async () => {
  const other = record("falling_rod", "coarse", "--step", "0.01");
  const file = path.join(other, "both.html");
  stiction("view", planar, other, "--export", file);
  const visit = await Visit.of(browser, file, 1000, 700);
  await visit.seek(0.5);
  const both = await visit.picture();
  await visit.page.getByRole("checkbox", { name: "coarse" }).uncheck();
  assert.ok((await difference(browser, both, await visit.picture())) > 0);
  assert.match((await visit.page.textContent(".plot-values")) ?? "", /kinetic \(planar\).*kinetic \(coarse\)/);
  await visit.close();
});

test("hostile names are text, and a failed run says where and why", async () => {
  const scene = changedScene("falling_rod", "hostile", (text) => text.replaceAll('"rod"', `'${HOSTILE}'`).replaceAll('"table"', `'${HOSTILE_TOO}'`));
  const folder = record(scene, "hostile");
  const summaryFile = path.join(folder, "summary.json");
  const summary = JSON.parse(readFileSync(summaryFile, "utf8"));
  writeFileSync(summaryFile, JSON.stringify({ ...summary, ending: { failed: HOSTILE_TOO } }));
  const file = path.join(folder, "page.html");
  stiction("view", folder, "--export", file);
  const visit = await Visit.of(browser, file, 1000, 700);
  assert.match((await visit.page.textContent("#banner")) ?? "", /^The simulation failed at t = 1 s, after 400 steps: <img src=x/);
  await visit.page.keyboard.press("p");
  await visit.page.fill("#picker-search", "alert(1)");
  assert.ok(((await visit.page.textContent("#picker-list")) ?? "").includes(`${HOSTILE}.x`));
  await visit.page.locator("#picker-list input").first().check();
  await visit.page.click("#picker-done");
  await visit.page.keyboard.press("e");
  assert.ok(((await visit.page.textContent("#events-list")) ?? "").includes(HOSTILE_TOO));
  assert.equal(await visit.page.locator("img").count(), 0);
  await visit.close();
});

test("numbers that are none or absurd neither stop the page nor blow it up", async () => {
  const text = readFileSync(page(planar), "utf8");
  const [, head, data] = /id="head">(.*?)<\/script>[^]*id="data">(.*?)<\/script>/s.exec(text)!;
  const runs = JSON.parse(head!);
  const bytes = Buffer.from(data!, "base64");
  // All bits set and then no differences: not a number, from the first moment to the last.
  const moments = runs.runs[0].frames as number;
  const planes = new Uint8Array(4 * moments);
  for (let byte = 0; byte < 4; byte++) planes[byte * moments] = 255;
  const nothing = deflateSync(planes);
  const rod = runs.runs[0].bodies.find((body: { name: string }) => body.name === "rod");
  Object.assign(runs.runs[0].columns[rod.column], { at: bytes.length, bytes: nothing.length, base: 0 });
  rod.outlines.push({ kind: "round", at: [0, 0, 0], radius: 1e300 }, { kind: "polygon", vertices: [] }, { kind: "unheard-of" });
  runs.runs[0].links.push({ kind: "spring", a: 0, at_a: [0, 0, 0], b: 1e9, at_b: [1e300, 0, 0] });
  const file = path.join(planar, "absurd.html");
  const json = JSON.stringify(runs).replaceAll("<", "\\u003c");
  writeFileSync(file, text.replace(head!, () => json).replace(data!, () => Buffer.concat([bytes, nothing]).toString("base64")));
  const visit = await Visit.of(browser, file, 1000, 700);
  await visit.seek(0.5);
  for (const key of ["k", "t", "x"]) await visit.page.keyboard.press(key);
  await visit.picture();
  assert.ok(await visit.page.locator("#banner").isHidden());
  assert.match((await visit.page.textContent(".plot-values")) ?? "", /total 3\.77/);
  await visit.close();
});
