// What browser tests share: the program, the runs it makes, the browser, and pictures that are compared.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { type Browser, type Page, chromium } from "playwright-core";

function setting(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set; cargo xtask viewer sets it`);
  return value;
}

const PROGRAM = setting("STICTION_PROGRAM");
const SCENES = setting("STICTION_SCENES");
const OUT = setting("STICTION_OUT");
const PICTURES = path.resolve(import.meta.dirname, "pictures");

/** Starts the program and returns what it printed. */
export function stiction(...words: string[]): string {
  return execFileSync(PROGRAM, words, { encoding: "utf8" });
}

/** Records a run of a scene of the repository, and returns its folder. */
export function record(scene: string, name: string, ...options: string[]): string {
  const folder = path.join(OUT, name);
  const file = scene.includes("/") ? scene : path.join(SCENES, `${scene}.toml`);
  stiction("run", file, "--out", folder, ...options);
  return folder;
}

/** Writes a scene that changes one of the repository. */
export function changedScene(scene: string, name: string, change: (text: string) => string): string {
  mkdirSync(OUT, { recursive: true });
  const file = path.join(OUT, `${name}.toml`);
  writeFileSync(file, change(readFileSync(path.join(SCENES, `${scene}.toml`), "utf8")));
  return file;
}

export async function openBrowser(): Promise<Browser> {
  const quiet = ["--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
  const software = ["--use-angle=swiftshader", "--enable-unsafe-swiftshader"];
  return chromium.launch({ executablePath: setting("CHROMIUM"), args: ["--no-sandbox", ...quiet, ...software] });
}

/** A page of its own that keeps account of everything that must not happen. */
export class Visit {
  readonly faults: string[] = [];

  private constructor(readonly page: Page) {
    page.on("console", (message) => message.type() === "error" && this.faults.push(`console: ${message.text()}`));
    page.on("pageerror", (error) => this.faults.push(`error: ${error.message}`));
    page.on("dialog", (dialog) => {
      this.faults.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
  }

  static async of(browser: Browser, file: string, width = 640, height = 480, scheme: "light" | "dark" = "light"): Promise<Visit> {
    const page = await browser.newPage({ viewport: { width, height }, colorScheme: scheme });
    const visit = new Visit(page);
    const address = pathToFileURL(file).href;
    page.on("request", (request) => {
      if (request.url() !== address && !request.url().startsWith("data:")) visit.faults.push(`request: ${request.url()}`);
    });
    await page.goto(address);
    await page.waitForSelector("html[data-ready]");
    return visit;
  }

  /** Two pictures later, everything that was asked for is drawn. */
  async settle(): Promise<void> {
    await this.page.evaluate(() => new Promise<void>((done) => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(() => done())))));
  }

  async moment(): Promise<number> {
    return Number(await this.page.inputValue("#slider"));
  }

  async seek(share: number): Promise<void> {
    await this.page.evaluate((to) => {
      const slider = document.getElementById("slider") as HTMLInputElement;
      slider.value = String(Math.round(to * Number(slider.max)));
      slider.dispatchEvent(new Event("input"));
    }, share);
    await this.settle();
  }

  /** The scene without what lies over it, whose letters look different on every machine. */
  async picture(): Promise<Buffer> {
    await this.settle();
    return this.page.locator("#scene").screenshot({ style: ".floating, #ruler { visibility: hidden }", animations: "disabled" });
  }

  async close(): Promise<void> {
    await this.page.close();
    assert.deepEqual(this.faults, []);
  }
}

/** The share of pixels that differ by more than a shade, measured in a page. */
export async function difference(browser: Browser, one: Buffer, other: Buffer): Promise<number> {
  const page = await browser.newPage();
  const addresses = [one, other].map((picture) => `data:image/png;base64,${picture.toString("base64")}`);
  const share = await page.evaluate(async (sources) => {
    const read = async (source: string): Promise<ImageData> => {
      const image = new Image();
      image.src = source;
      await image.decode();
      const canvas = new OffscreenCanvas(image.width, image.height);
      const g = canvas.getContext("2d")!;
      g.drawImage(image, 0, 0);
      return g.getImageData(0, 0, image.width, image.height);
    };
    const [a, b] = [await read(sources[0]!), await read(sources[1]!)];
    if (a.width !== b.width || a.height !== b.height) return 1;
    let off = 0;
    for (let k = 0; k < a.data.length; k += 4) {
      if ([0, 1, 2].some((c) => Math.abs(a.data[k + c]! - b.data[k + c]!) > 24)) off++;
    }
    return off / (a.width * a.height);
  }, addresses);
  await page.close();
  return share;
}

/** Compares with the committed picture; `STICTION_PICTURES=write` replaces it. */
export async function looksLike(browser: Browser, picture: Buffer, name: string, tolerance: number): Promise<void> {
  const file = path.join(PICTURES, `${name}.png`);
  if (process.env["STICTION_PICTURES"] === "write" || !existsSync(file)) {
    if (process.env["STICTION_PICTURES"] !== "write") throw new Error(`there is no picture ${name}.png to compare with`);
    writeFileSync(file, picture);
  }
  writeFileSync(path.join(OUT, `${name}.png`), picture);
  const off = await difference(browser, picture, readFileSync(file));
  console.log(`picture ${name}: ${(100 * off).toFixed(2)} % of the pixels differ, ${100 * tolerance} % may`);
  assert.ok(off <= tolerance, `${name}: ${(100 * off).toFixed(2)} % of the pixels differ from the committed picture`);
}
