import { type Browser, chromium, type Page } from "playwright-core";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { startModelServer } from "./fakes/model_server.ts";
import { makeHome } from "./support/home.ts";
import { needs, programPath } from "./support/needs.ts";
import { httpOf } from "./support/wire_socket.ts";

const ARGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** One for all tests; each page has storage of its own. */
let browser: Browser | undefined;

Deno.test.afterAll(() => browser?.close());

async function openPage(url: string): Promise<Page & AsyncDisposable> {
  browser ??= await chromium.launch({ executablePath: programPath("chromium"), args: ARGS });
  const page = await browser.newPage();
  await page.goto(url);
  return page;
}

Deno.test({
  ...needs(
    "a browser chats on the start page, and goes on after the connection was lost",
    "chromium",
  ),
  async fn() {
    await using model = startModelServer({
      script: [{ text: ["Hello ", "there"] }, { text: "Still here" }],
    });
    await using home = await makeHome({
      agent: { model: "local/fake" },
      providers: { local: { baseUrl: model.baseUrl } },
    });
    await using gateway = await home.start(["gateway", "--json"]);
    await using page = await openPage(httpOf(gateway.wsUrl).href);
    const errors: string[] = [];
    page.on("pageerror", (error) => errors.push(error.message));
    await page.getByText("local/fake").waitFor();
    await page.getByLabel("Message").fill("hi");
    await page.getByRole("button", { name: "Send" }).click();
    await page.locator(".agent", { hasText: "Hello there" }).waitFor();
    await page.context().setOffline(true);
    await page.evaluate("socket.close()");
    await page.getByLabel("Message").fill("are you there?");
    await page.getByRole("button", { name: "Send" }).click();
    await page.context().setOffline(false);
    await page.locator(".agent", { hasText: "Still here" }).waitFor();
    assertEquals(await page.locator(".agent").count(), 2);
    assertEquals(errors, []);
  },
});

Deno.test({
  ...needs(
    "the start page shows text as text, sends nothing while characters are composed, and fits a phone",
    "chromium",
  ),
  async fn() {
    const markup =
      `<img src=x onerror="document.title='run'"><script>document.title='run'</script>`;
    await using model = startModelServer({
      script: ({ index }) =>
        index === 0
          ? { text: markup, calls: [{ tool: "list_files", args: { path: markup } }] }
          : { text: [markup, " ", "w".repeat(300)] },
    });
    await using home = await makeHome({
      agent: { model: "local/fake" },
      providers: { local: { baseUrl: model.baseUrl } },
      channels: { sendToolHints: true, sendProgress: true },
    });
    await using gateway = await home.start(["gateway", "--json"]);
    await using page = await openPage(`${httpOf(gateway.wsUrl).href}#no%20chat`);
    await page.setViewportSize({ width: 320, height: 568 });
    await page.getByText("local/fake").waitFor();
    const box = page.getByLabel("Message");
    await box.fill(markup);
    await box.dispatchEvent("keydown", { key: "Enter", isComposing: true });
    assertEquals(await page.locator(".me").count(), 0);
    await box.press("Enter");
    await page.locator(".agent", { hasText: "www" }).waitFor();
    // Said again from the begin after a reload, in the same chat.
    const chat = new URL(page.url()).hash;
    await page.reload();
    await page.locator(".agent", { hasText: "www" }).waitFor();
    assertEquals(new URL(page.url()).hash, chat);
    assertEquals(await page.locator("#log img, #log script").count(), 0);
    assertEquals(await page.title(), "service");
    const width = await page.evaluate("document.documentElement.scrollWidth");
    assertEquals(width, 320);
    for (const name of ["Send", "Stop"]) {
      const place = await page.getByRole("button", { name }).boundingBox();
      assert(place !== null && place.x + place.width <= 320, `${name} is out of sight`);
    }
  },
});

Deno.test({
  ...needs("the start page asks once for a secret that is not given", "chromium"),
  async fn() {
    await using home = await makeHome({
      channels: { websocket: { tokenIssueSecret: "the-port-secret" } },
    });
    await using gateway = await home.start(["gateway", "--json"]);
    await using page = await openPage("about:blank");
    const given: (string | undefined)[] = ["wrong", undefined, "the-port-secret"];
    let asked = 0;
    page.on("dialog", (dialog) => {
      const secret = given[asked++];
      return secret === undefined ? dialog.dismiss() : dialog.accept(secret);
    });
    await page.goto(httpOf(gateway.wsUrl).href);
    await page.getByText("reload the page").waitFor();
    assertEquals(asked, 2);
    await page.reload();
    await page.getByText("offline", { exact: true }).waitFor();
    assertEquals(asked, 3);
  },
});

Deno.test({
  ...needs(
    "G23 a page of another origin opens no socket, bootstraps nothing and posts nothing",
    "chromium",
  ),
  async fn() {
    await using home = await makeHome({
      channels: { websocket: { websocketRequiresToken: false } },
    });
    await using gateway = await home.start(["gateway", "--json"]);
    const { port } = new URL(gateway.wsUrl);
    await using _foreign = Deno.serve(
      { port: 0, hostname: "127.0.0.1", onListen() {} },
      () => new Response("<p>foreign</p>", { headers: { "content-type": "text/html" } }),
    );
    const origin = `http://127.0.0.1:${_foreign.addr.port}`;
    await using page = await openPage(origin);
    const outcome = await page.evaluate(async (port) => {
      const tell = (error: unknown) => String(error);
      const get = await fetch(`http://127.0.0.1:${port}/webui/bootstrap`)
        .then((response) => response.text(), tell);
      const blind = await fetch(`http://127.0.0.1:${port}/webui/bootstrap`, { mode: "no-cors" })
        .then((response) => response.type, tell);
      const post = await fetch(`http://127.0.0.1:${port}/api/webui/socket-token`, {
        method: "POST",
        body: "{}",
        mode: "no-cors",
      }).then((response) => response.type, tell);
      const socket = await new Promise<string>((resolve) => {
        const opening = new WebSocket(`ws://127.0.0.1:${port}/`);
        opening.onopen = () => resolve("open");
        opening.onerror = () => resolve("refused");
      });
      return { get, blind, post, socket };
    }, port);
    assertEquals(outcome.socket, "refused");
    assertStringIncludes(outcome.get, "Failed to fetch");
    assertEquals([outcome.blind, outcome.post], ["opaque", "opaque"]);
    // What the page could not see was refused as well.
    assert(!gateway.log().includes(" 200 "), gateway.log());
    await using own = await openPage(`http://127.0.0.1:${port}/`);
    await own.getByText("offline").waitFor();
  },
});

Deno.test({
  ...needs(
    "the start page shows all of what is approved, and its buttons work once they stand still",
    "chromium",
  ),
  async fn() {
    await using home = await makeHome();
    const path = `${home.dir}/written`;
    const content = `BEGIN <b>\n${"some words\n".repeat(4_000)}END`;
    await using model = startModelServer({
      script: [{ calls: [{ tool: "write_file", args: { path, content } }] }, { text: "done" }],
    });
    await home.configure({
      agent: { model: "local/fake" },
      providers: { local: { baseUrl: model.baseUrl } },
    });
    await using gateway = await home.start(["gateway", "--json"]);
    await using page = await openPage(httpOf(gateway.wsUrl).href);
    await page.getByText("local/fake").waitFor();
    // Clicks each button in the very moment in which it comes.
    await page.evaluate(`
      const clickAll = () => document.querySelectorAll(".ask button").forEach((one) => one.click());
      new MutationObserver(clickAll).observe($("log"), { childList: true, subtree: true });
    `);
    const approve = page.getByRole("button", { name: "Approve" });
    const enabled = page.locator(".ask button:enabled", { hasText: "Approve" });
    const isRefused = async () => [
      await approve.isDisabled(),
      await Deno.stat(path).then(() => false, () => true),
    ];
    await page.getByLabel("Message").fill("write it");
    await page.getByRole("button", { name: "Send" }).click();
    await approve.waitFor();
    assertEquals(await isRefused(), [true, true]);
    const text = await page.locator(".ask").innerText();
    assertStringIncludes(text, `fs.write: ${path}`);
    for (const part of ["access: write", "BEGIN <b>", "END"]) assertStringIncludes(text, part);
    assertEquals(text.split("some words").length, 4_001);

    // What moves under the pointer, or is covered, counts no more in the same moment.
    for (
      const change of [
        `button.before("moved")`,
        `const cover = document.createElement("div");
         cover.style.cssText = "position: fixed; inset: 0";
         document.body.append(cover);
         setTimeout(() => cover.remove())`,
      ]
    ) {
      await enabled.waitFor();
      await page.evaluate(`{
        const button = document.querySelector(".ask button");
        ${change};
        button.click();
      }`);
      assertEquals(await isRefused(), [true, true]);
    }
    await enabled.click();
    await page.locator(".agent", { hasText: "done" }).waitFor();
    assertEquals(await Deno.readTextFile(path), content);
    assertEquals(await page.locator(".ask").count(), 0);
  },
});
