/** The browser app for everybody: by keyboard alone, on a phone, in both themes. */

import axe from "axe-core";
import type { Page } from "playwright-core";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { answer, openPage, say, startChat } from "../support/browser.ts";
import { needs } from "../support/needs.ts";
import { shareService } from "../support/shared_service.ts";
import { httpOf } from "../support/wire_socket.ts";

/** Nothing is configured, as in a home that was just made: the built-in model answers. */
const shared = shareService(() => ({}), ["gateway", "--json"]);

const appUrl = () => httpOf(shared.service.wsUrl).href;

const PAGES = [
  ...["Chat", "Conversations", "Approvals", "Automations", "Channels", "Settings", "Permissions"],
  ...["Audit log", "Logs", "Usage"],
];

/** What keeps people from using a page, by the rules of axe. */
async function violations(page: Page): Promise<string[]> {
  // A policy that lets no inline script run lets a debugger's.
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate(
    `axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa", "best-practice"] })`,
  ) as axe.AxeResults;
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join("\n")}`);
}

/** Tool calls, code, a table, a command and an approval that waits. */
async function fillChat(page: Page): Promise<void> {
  await say(page, "/tool list_files {}");
  await page.locator(".turn-foot").waitFor();
  await say(page, "/status");
  await page.locator(".command-answer").waitFor();
  const args = JSON.stringify({ path: `${shared.home.dir}/outside.txt`, content: "x" });
  await say(page, `/tool write_file ${args}`);
  await page.locator(".ask .button:enabled", { hasText: "Deny" }).waitFor();
  await page.locator(".line-box > summary").first().click();
}

for (const colorScheme of ["light", "dark"] as const) {
  Deno.test({
    ...needs(`axe finds nothing on any page, wide and on a phone, ${colorScheme}`, "chromium"),
    async fn() {
      await using page = await startChat(appUrl(), { colorScheme });
      assertEquals(await violations(page), []);
      await fillChat(page);
      assertEquals(await violations(page), []);
      for (const name of PAGES.slice(1)) {
        await openByMenu(page, name);
        assertEquals(await violations(page), [], name);
      }
      await page.setViewportSize({ width: 390, height: 844 });
      await openByMenu(page, "Chat");
      assertEquals(await violations(page), []);
      await page.getByRole("button", { name: "Menu", exact: true }).click();
      await page.locator(".shell[data-menu=true] .columns").waitFor();
      assertEquals(await violations(page), []);
      await page.locator(".chat-row").first().getByRole("button").click();
      await page.getByRole("menuitem", { name: "Rename" }).waitFor();
      assertEquals(await violations(page), []);
      await page.keyboard.press("Escape");
      await page.keyboard.press("Escape");
      await page.locator(".shell[data-menu=false]").waitFor();
      await denyAll(page);
    },
  });
}

/** So that no other test sees what waits. */
async function denyAll(page: Page): Promise<void> {
  await page.setViewportSize({ width: 1280, height: 800 });
  await openByMenu(page, "Approvals");
  await answer(page, "Deny");
  await page.getByText("Nothing waits for you.").waitFor();
}

async function openByMenu(page: Page, name: string): Promise<void> {
  const menu = page.getByRole("button", { name: "Menu", exact: true });
  if (await menu.isVisible()) await menu.click();
  await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name }).click();
  if (name !== "Chat") await page.getByRole("heading", { name, level: 1 }).waitFor();
}

Deno.test({
  ...needs("all of a chat is done by keyboard", "chromium"),
  async fn() {
    await using page = await startChat(appUrl());
    const press = async (...keys: string[]) => {
      for (const key of keys) await page.keyboard.press(key);
    };
    const tabTo = async (name: RegExp) => {
      for (let presses = 0; presses < 60; presses++) {
        await press("Tab");
        const focused = await page.evaluate(`{
          const at = document.activeElement;
          at.getAttribute("aria-label") ?? at.innerText ?? at.tagName;
        }`) as string;
        if (name.test(focused)) return;
      }
      assert(false, `Tab does not reach ${name}`);
    };
    // The message box has the focus where there is a keyboard.
    await page.keyboard.type("first line");
    await press("Shift+Enter");
    await page.keyboard.type("second line");
    await press("Enter");
    await page.locator(".me", { hasText: "first line\nsecond line" }).waitFor();
    await page.locator(".turn-foot").waitFor();
    await page.keyboard.type("/tool list_files {}");
    await press("Enter");
    await page.locator(".turn-foot").nth(1).waitFor();
    // From the top of the page: past the navigation, to the messages.
    await page.evaluate("document.activeElement.blur()");
    await tabTo(/^Skip to content$/);
    await press("Enter");
    await tabTo(/list_files/);
    await press("Enter");
    await page.locator(".line-body", { hasText: "Arguments" }).waitFor();
    await tabTo(/^Copy answer$/);
    await tabTo(/^Message$/);
    // A menu of the list, with arrows.
    await page.evaluate("document.activeElement.blur()");
    await tabTo(/^Actions for /);
    await press("Enter");
    await page.getByRole("menu").waitFor();
    await press("ArrowDown", "ArrowUp", "Escape");
    assertEquals(await page.getByRole("menu").count(), 0);
    await press("Enter");
    await page.getByRole("menuitem", { name: "Rename" }).waitFor();
    await press("Enter");
    await page.getByRole("textbox", { name: "Rename" }).waitFor();
    await page.keyboard.type("Named by keyboard");
    await press("Enter");
    await page.getByRole("heading", { name: "Named by keyboard" }).waitFor();
    // An approval, by its buttons once they stand still.
    await tabTo(/^Message$/);
    const args = JSON.stringify({ path: `${shared.home.dir}/outside.txt`, content: "x" });
    await page.keyboard.type(`/tool write_file ${args}`);
    await press("Enter");
    await page.locator(".ask .button:enabled", { hasText: "Deny" }).waitFor();
    await page.evaluate("document.querySelector('.ask pre').focus()");
    await tabTo(/^Deny$/);
    await press("Enter");
    await page.locator(".agent", { hasText: "Denied" }).waitFor();
  },
});

Deno.test({
  ...needs("text of twice the size, and a narrow phone, cut nothing off", "chromium"),
  async fn() {
    // As the browser's own setting has it, which media queries follow.
    await using page = await startChat(appUrl(), { args: ["--blink-settings=defaultFontSize=32"] });
    await fillChat(page);
    for (const width of [1440, 1024, 768, 640, 390, 320]) {
      await page.setViewportSize({ width, height: 800 });
      for (const name of PAGES) {
        await openByMenu(page, name);
        const [scroll, main] = await page.evaluate(`[
          document.documentElement.scrollWidth,
          document.querySelector("main").scrollWidth - document.querySelector("main").clientWidth,
        ]`) as number[];
        assertEquals([scroll, main], [width, 0], `${name} at ${width}`);
      }
    }
    await denyAll(page);
  },
});

Deno.test({
  ...needs(
    "without scripts the page says what else there is, and in German it is German",
    "chromium",
  ),
  async fn() {
    await using still = await openPage(appUrl(), { javaScriptEnabled: false });
    // What is emulated here shows no <noscript>; nothing stands in its place.
    assertEquals(await still.locator("#app").boundingBox(), null);
    const help = await still.locator("noscript").textContent();
    for (const words of ["This page needs JavaScript", "service chat"]) {
      assertStringIncludes(help!, words);
    }
    await using german = await openPage(appUrl(), { locale: "de-AT" });
    await german.getByRole("heading", { name: "Willkommen" }).waitFor();
    assertEquals(await german.evaluate("document.documentElement.lang"), "de");
    await german.getByTitle("Dunkel").click();
    await german.reload();
    assertEquals(await german.evaluate("document.documentElement.dataset.theme"), "dark");
  },
});
