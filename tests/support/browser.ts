/**
 * One chromium for the tests of a file, and pages in it that fail a test when something goes wrong in them.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import axe from "axe-core";
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from "playwright-core";
import { needs, programPath } from "./needs.ts";

const ARGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Lets a test reach the sockets of a page, as `sockets`. */
const KEEP_SOCKETS = `
  globalThis.sockets = [];
  globalThis.WebSocket = class extends WebSocket {
    constructor(...given) {
      super(...given);
      sockets.push(this);
    }
  };
`;

/** By their arguments. */
const browsers = new Map<string, Promise<Browser>>();

Deno.test.afterAll(async () => {
  for (const browser of browsers.values()) await (await browser).close();
});

/** A test in a browser. */
export function browserTest(name: string, fn: () => Promise<void>): void {
  Deno.test({ ...needs(name, "chromium"), fn });
}

function browserWith(args: readonly string[]): Promise<Browser> {
  const name = args.join(" ");
  let browser = browsers.get(name);
  if (browser === undefined) {
    browser = chromium.launch({
      executablePath: programPath("chromium"),
      args: [...ARGS, ...args],
    });
    browsers.set(name, browser);
  }
  return browser;
}

/** How a page is opened. */
export interface PageOptions extends BrowserContextOptions {
  /** Others share it. Default: one of its own. */
  context?: BrowserContext;
  /** Of a browser of its own. */
  args?: readonly string[];
}

/** A page whose own errors, and requests to other origins, are known when it is closed. */
export type TestPage = Page & AsyncDisposable;

/** Opens a page with storage of its own, or in a context that others share. */
export async function openPage(
  url: string,
  { args = [], context: shared, ...options }: PageOptions = {},
): Promise<TestPage> {
  const browser = await browserWith(args);
  const context = shared ?? await browser.newContext({ locale: "en-US", ...options });
  const page = await context.newPage();
  const wrong: string[] = [];
  page.on("pageerror", ({ message }) => wrong.push(message));
  page.on("console", (message) => {
    if (message.text().includes("Content Security Policy")) wrong.push(message.text());
  });
  page.on("request", (request) => {
    const at = request.url();
    const isOwn = at.startsWith(new URL(url).origin) || /^(about|blob|data):/.test(at);
    if (url !== "about:blank" && !isOwn) wrong.push(`a request to ${at}`);
  });
  await page.addInitScript(KEEP_SOCKETS);
  await page.goto(url);
  return Object.assign(page, {
    async [Symbol.asyncDispose]() {
      // What a page asks for as it is closed may still be on its way to a route of the test.
      await page.unrouteAll({ behavior: "ignoreErrors" });
      if (shared === undefined) await context.close();
      else await page.close();
      assertEquals(wrong, []);
    },
  });
}

/** No violation of accessibility in both themes, and nothing beside the screen of a phone. */
export async function checkLook(page: Page): Promise<void> {
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await page.evaluate(axe.source);
    const found = await page.evaluate("axe.run({ resultTypes: ['violations'] })") as {
      violations: { id: string; nodes: { html: string }[] }[];
    };
    const words = found.violations.map(({ id, nodes }) => `${id}: ${nodes[0]!.html}`);
    assertEquals(words, [], colorScheme);
  }
  await page.setViewportSize({ width: 320, height: 568 });
  assertEquals(await page.evaluate("document.documentElement.scrollWidth"), 320);
}

/** Opens the app where a chat begins. */
export async function startChat(
  url: string,
  options: PageOptions = {},
): Promise<TestPage> {
  const page = await openPage(url, options);
  await page.getByLabel("Message", { exact: true }).waitFor();
  return page;
}

/** Says something in the chat of a page. */
export async function say(page: Page, text: string): Promise<void> {
  await page.getByLabel("Message", { exact: true }).fill(text);
  await page.getByRole("button", { name: "Send", exact: true }).click();
}

/** Answers the action that waits, once the button stands still in sight. */
export async function answer(page: Page, verdict: "Approve" | "Deny"): Promise<void> {
  await page.locator(".ask .button", { hasText: verdict }).scrollIntoViewIfNeeded();
  await page.locator(".ask .button:enabled", { hasText: verdict }).click();
}
