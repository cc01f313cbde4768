import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { openPage, say } from "../support/browser.ts";
import { makeHome } from "../support/home.ts";
import { needs } from "../support/needs.ts";
import { shareService } from "../support/shared_service.ts";
import { httpOf } from "../support/wire_socket.ts";

const shared = shareService((baseUrl) => ({
  agent: { model: "local/fake" },
  providers: { local: { baseUrl } },
}), ["gateway", "--json"]);

const appUrl = () => httpOf(shared.service.wsUrl).href;

Deno.test({
  ...needs(
    "a browser chats in the app, and goes on after the connection was lost",
    "chromium",
  ),
  async fn() {
    await using _model = shared.startModel([{ text: ["Hello ", "there"] }, { text: "Still here" }]);
    await using page = await openPage(appUrl());
    await page.getByText("local/fake").waitFor();
    await say(page, "hi");
    await page.locator(".agent", { hasText: "Hello there" }).waitFor();
    await page.context().setOffline(true);
    await page.evaluate("sockets.at(-1).close()");
    await page.getByText("Connection lost").waitFor();
    await say(page, "are you there?");
    await page.getByText("Will be sent when the connection is back").waitFor();
    await page.context().setOffline(false);
    await page.locator(".agent", { hasText: "Still here" }).waitFor();
    assertEquals(await page.locator(".agent").count(), 2);
    assertEquals(await page.locator(".me").count(), 2);
  },
});

Deno.test({
  ...needs(
    "the app shows text as text, sends nothing while characters are composed, and fits a phone",
    "chromium",
  ),
  async fn() {
    const markup =
      `<img src=x onerror="document.title='run'"><script>document.title='run'</script>`;
    await using _model = shared.startModel(({ index }) =>
      index === 0
        ? { text: markup, calls: [{ tool: "list_files", args: { path: markup } }] }
        : { text: [markup, " ", "w".repeat(300)] }
    );
    await using page = await openPage(`${appUrl()}#no%20chat`);
    await page.setViewportSize({ width: 320, height: 568 });
    const box = page.getByLabel("Message", { exact: true });
    await box.fill(markup);
    await box.dispatchEvent("keydown", { key: "Enter", isComposing: true });
    assertEquals(await page.locator(".me").count(), 0);
    await box.press("Enter");
    await page.locator(".agent", { hasText: "www" }).waitFor();
    await page.locator(".turn-foot").waitFor();
    // Said again from the begin after a reload, in the same chat.
    const chat = new URL(page.url()).hash;
    await page.reload();
    await page.locator(".agent", { hasText: "www" }).waitFor();
    assertEquals(await page.locator(".me").innerText(), markup);
    assertEquals(new URL(page.url()).hash, chat);
    assertEquals(await page.locator(".log img, .log script").count(), 0);
    assert(await page.title() !== "run");
    const width = await page.evaluate("document.documentElement.scrollWidth");
    assertEquals(width, 320);
    for (const name of ["Send", "Attach files", "Menu"]) {
      const place = await page.getByRole("button", { name, exact: true }).boundingBox();
      assert(place !== null && place.x + place.width <= 320, `${name} is out of sight`);
    }
  },
});

Deno.test({
  ...needs("the app asks for a secret that is not given, and keeps the right one", "chromium"),
  async fn() {
    await using home = await makeHome({
      channels: { websocket: { tokenIssueSecret: "the-port-secret" } },
    });
    await using gateway = await home.start(["gateway", "--json"]);
    await using page = await openPage(httpOf(gateway.wsUrl).href);
    const secret = page.getByLabel("Secret or token");
    await secret.fill("wrong");
    await secret.press("Enter");
    await page.getByText("isn't valid").waitFor();
    await page.reload();
    await page.getByLabel("Secret or token").fill("the-port-secret");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByLabel("Message", { exact: true }).waitFor();
    await page.reload();
    await page.getByLabel("Message", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("Secret or token").waitFor();
    await page.reload();
    await page.getByLabel("Secret or token").waitFor();

    // A token sees what its scopes allow, and a link with one signs in.
    const issued = await home.run(["tokens", "issue", "--scopes", "read", "--json"]);
    const { token } = JSON.parse(issued.stdout);
    await page.goto("about:blank");
    await page.goto(`${httpOf(gateway.wsUrl).href}#token=${token}`);
    await page.getByText("Your token may read, but not write.").waitFor();
    assertEquals(page.url().includes(token), false);
    const offered = await page.getByRole("navigation", { name: "Pages" }).getByRole("link")
      .allInnerTexts();
    for (const name of ["Chat", "Permissions"]) assert(offered.includes(name), name);
    for (const name of ["Approvals", "Secrets", "Logs", "Audit log"]) {
      assert(!offered.includes(name), name);
    }
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
    await using page = await openPage("about:blank");
    await page.goto(origin);
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
    await own.getByText("offline").first().waitFor();
  },
});

Deno.test({
  ...needs(
    "the app shows all of what is approved, and its buttons work once they stand still",
    "chromium",
  ),
  async fn() {
    const { home } = shared;
    const path = `${home.dir}/written`;
    const content = `BEGIN <b>\n${"some words\n".repeat(4_000)}END`;
    await using _model = shared.startModel([
      { calls: [{ tool: "write_file", args: { path, content } }] },
      { text: "done" },
    ]);
    await using page = await openPage(appUrl());
    await page.getByText("local/fake").waitFor();
    // Clicks each button in the very moment in which it comes.
    await page.evaluate(`
      const clickAll = () => document.querySelectorAll(".ask .buttons button").forEach((one) => one.click());
      new MutationObserver(clickAll).observe(document.body, { childList: true, subtree: true });
    `);
    const approve = page.getByRole("button", { name: "Approve" });
    const enabled = page.locator(".ask .buttons button:enabled", { hasText: "Approve" });
    const isRefused = async () => [
      await approve.isDisabled(),
      await Deno.stat(path).then(() => false, () => true),
    ];
    await say(page, "write it");
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
        const button = document.querySelector(".ask .buttons button");
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
