/** The pages of the browser app beside its chat, each used once for real. */

import type { Page } from "playwright-core";
import { resolve } from "@std/path";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { answer, checkLook, openPage } from "../support/browser.ts";
import { needs } from "../support/needs.ts";
import { shareService } from "../support/shared_service.ts";
import { httpOf, WireSocket } from "../support/wire_socket.ts";

const MARKUP = `<img src=x onerror="document.title='run'">`;

const shared = shareService((baseUrl) => ({
  agent: { model: "local/fake" },
  providers: { local: { baseUrl } },
  prices: { "local/fake": { input: 1_000_000, output: 0 } },
}), ["gateway", "--json"]);

async function openAt(name: string): Promise<Page & AsyncDisposable> {
  const page = await openPage(httpOf(shared.service.wsUrl).href);
  await page.getByLabel("Message", { exact: true }).waitFor();
  await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name }).click();
  await page.getByRole("heading", { name, level: 1 }).waitFor();
  return page;
}

Deno.test({
  ...needs("the page of secrets sets, changes and removes one, and never shows it", "chromium"),
  async fn() {
    await using page = await openAt("Secrets");
    await page.getByText("No secrets yet.").waitFor();
    await page.getByRole("button", { name: "Add a secret" }).click();
    await page.getByLabel("Name").fill("lower");
    await page.getByLabel("Value").fill("a-long-secret-value");
    await page.keyboard.press("Enter");
    // The service's own words, and nothing of what was typed is lost.
    await page.getByRole("alert").getByText("such as GITHUB_TOKEN").waitFor();
    await page.getByLabel("Name").fill("GITHUB_TOKEN");
    await page.getByLabel("Hosts").fill("api.github.com, example.com");
    await page.keyboard.press("Enter");
    await page.getByText("GITHUB_TOKEN was saved.").waitFor();
    const { stdout } = await shared.home.run(["secrets", "list", "--json"]);
    assertStringIncludes(stdout, '"example.com"');
    await page.getByText("for api.github.com, example.com").waitFor();
    await page.getByRole("button", { name: "Change GITHUB_TOKEN" }).click();
    assertEquals(await page.getByLabel("Value").inputValue(), "");
    await checkLook(page);
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("button", { name: "Remove GITHUB_TOKEN?" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
    await page.getByText("GITHUB_TOKEN was removed.").waitFor();
    assert(!(await page.content()).includes("a-long-secret-value"));
  },
});

Deno.test({
  ...needs("an action that waits is counted wherever one is, and denied with a reason", "chromium"),
  async fn() {
    const path = `${shared.home.dir}/../outside.txt`;
    const told: string[] = [];
    await using _model = shared.startModel(({ index, body }) => {
      told.push(JSON.stringify(body.messages.at(-1)));
      return index === 0
        ? { calls: [{ tool: "write_file", args: { path, content: "x" } }] }
        : { text: "I see" };
    });
    using socket = await WireSocket.open(shared.service.wsUrl);
    socket.send({ type: "message", chat_id: socket.chatId, content: "write it" });
    await socket.next("approval_requested");
    await using page = await openAt("Approvals");
    const badge = page.locator(".nav .badge", { hasText: /^1/ });
    await badge.waitFor();
    assertEquals(await page.title(), "(1) Approvals · service");
    const card = page.getByRole("article", { name: "Approval needed" });
    await card.getByText(`fs.write: ${resolve(path)}`).waitFor();
    await card.getByText(/^expires in \d+/).waitFor();
    await card.getByLabel("Reason, if you deny it").fill(`Not there: ${MARKUP}`);
    await checkLook(page);
    await answer(page, "Deny");
    await page.getByText("Nothing waits for you.").waitFor();
    await badge.waitFor({ state: "detached" });
    assertEquals(await page.title(), "Approvals · service");
    await socket.next("turn_end");
    assertStringIncludes(told[1]!, "Not there");
  },
});

Deno.test({
  ...needs("an action is allowed for its session, and for good at the command line", "chromium"),
  async fn() {
    const path = `${shared.home.dir}/outside.txt`;
    await using _model = shared.startModel(({ body }) => {
      const done = JSON.stringify(body).split(`"role":"tool"`).length - 1;
      return done < 2
        ? { calls: [{ tool: "write_file", args: { path, content: "x" } }] }
        : { text: "written" };
    });
    await using page = await openAt("Approvals");
    await page.evaluate(`{
      globalThis.told = [];
      Object.defineProperty(document, "hidden", { get: () => true, configurable: true });
      globalThis.Notification = class { constructor(...given) { told.push(given); } };
      Notification.permission = "granted";
    }`);
    using socket = await WireSocket.open(shared.service.wsUrl);
    socket.send({ type: "message", chat_id: socket.chatId, content: "write it" });
    const card = page.getByRole("article", { name: "Approval needed" });
    await card.getByText("Always allow").click();
    const command = `service grants add 'websocket:${socket.chatId}' 'fs.write' '${path}'`;
    await card.getByText(command).waitFor();
    await card.locator(".button:enabled", { hasText: "Allow for this session" }).click();
    // The next one waits for nobody.
    for (let at = 0; at < 2; at++) await socket.next("approval_resolved");
    await socket.next("turn_end");
    await page.getByText("Nothing waits for you.").waitFor();
    assertEquals(await page.evaluate("told"), [["Approval needed", { body: path }]]);
    // The same action of another session is asked about.
    using other = await WireSocket.open(shared.service.wsUrl);
    other.send({ type: "message", chat_id: other.chatId, content: "write it" });
    await answer(page, "Deny");
    const { outcome } = await other.next("approval_resolved");
    assertEquals(outcome, "denied");
    await other.next("turn_end");
  },
});

Deno.test({
  ...needs("an automation is made, rehearsed, granted, run and deleted on its page", "chromium"),
  async fn() {
    await using _model = shared.startModel(({ index }) =>
      index === 0
        ? { calls: [{ tool: "write_file", args: { path: MARKUP, content: "x" } }] }
        : { text: MARKUP }
    );
    await using page = await openAt("Automations");
    await page.getByRole("button", { name: "New automation" }).click();
    await page.getByLabel("Name").fill(MARKUP);
    await page.getByLabel("Message").fill("Plan my day");
    for (const day of ["Saturday", "Sunday"]) await page.getByLabel(day).uncheck();
    await page.getByLabel("Time").fill("07:30");
    await checkLook(page);
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("On weekdays at 07:30").waitFor();
    await page.getByText("It has not run yet.").waitFor();

    await page.getByRole("button", { name: "Start a dry run" }).click();
    await page.getByText("needs a grant").waitFor();
    await page.getByRole("button", { name: "Grant this action" }).click();
    await page.getByText("1 action was granted.").waitFor();
    const { stdout } = await shared.home.run(["grants", "list", "--json"]);
    assertStringIncludes(stdout, "fs.write");

    await page.getByRole("button", { name: "Run now" }).click();
    await page.locator(".records").getByText(MARKUP).first().waitFor();
    await page.getByRole("button", { name: "Switch off" }).click();
    await page.getByRole("button", { name: "Switch on" }).waitFor();
    await page.getByRole("button", { name: "Edit" }).click();
    await page.getByRole("button", { name: "Every …" }).click();
    await page.getByLabel("Unit").selectOption("86400");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Every 1 day").waitFor();
    await checkLook(page);
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.getByText("No automations yet.").waitFor();
    assertEquals(await page.locator("main img").count(), 0);
    assert(await page.title() !== "run");
  },
});

Deno.test({
  ...needs(
    "the page of logs shows lines as they come, those of a kind, and waits on demand",
    "chromium",
  ),
  async fn() {
    await using page = await openAt("Logs");
    const log = page.getByRole("log", { name: "Logs" });
    // What this app asks for by itself is left out, unless somebody wants to see it.
    const own = log.getByText("GET /webui/bootstrap");
    await page.getByLabel("Show requests of this app").check();
    await own.first().waitFor();
    await page.getByLabel("Show requests of this app").uncheck();
    await own.first().waitFor({ state: "detached" });
    const ask = (path: string) => fetch(new URL(path, httpOf(shared.service.wsUrl)));
    await (await ask(`/first?${MARKUP}`)).body?.cancel();
    await log.getByText("GET /first").waitFor();
    await page.getByRole("button", { name: "Warnings and errors" }).click();
    await log.getByText("GET /first").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Requests" }).click();
    await page.getByLabel("Find in the log").fill("/FIRST");
    await log.getByText("GET /first").waitFor();
    assertEquals(await log.locator("p").count(), 1);
    assertEquals(
      await log.locator("p > :first-child").innerText(),
      await page.evaluate(`new Intl.DateTimeFormat("en", { timeStyle: "medium" })
        .format(new Date(document.querySelector(".log-line time").dateTime))`),
    );
    const [file] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Download" }).click(),
    ]);
    const saved = (await Deno.readTextFile(await file.path())).trimEnd().split("\n");
    assertEquals(saved.map((line) => JSON.parse(line).path), ["/first"]);
    await page.getByLabel("Level or status").selectOption("2xx");
    await log.getByText("GET /first").waitFor({ state: "detached" });
    await page.getByLabel("Level or status").selectOption("4xx");
    await log.getByText("GET /first").waitFor();
    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByLabel("Find in the log").fill("");
    await (await ask("/second")).body?.cancel();
    await page.getByRole("button", { name: "Continue" }).click();
    await log.getByText("GET /second").waitFor();
    await checkLook(page);
  },
});

Deno.test({
  ...needs(
    "the page of conversations sorts, searches, saves and deletes several at once",
    "chromium",
  ),
  async fn() {
    await using _model = shared.startModel(({ body }) => ({
      text: "y".repeat(JSON.stringify(body).includes("Zebra") ? 4_000 : 4),
    }));
    for (const content of [MARKUP, "Zebra", "Apple", "Apple pie"]) {
      using socket = await WireSocket.open(shared.service.wsUrl);
      socket.send({ type: "message", chat_id: socket.chatId, content });
      await socket.next("turn_end");
    }
    await using page = await openAt("Conversations");
    const table = page.getByRole("region", { name: "Conversations" });
    // Other tests have talked too.
    const own = new Set([MARKUP, "Zebra", "Apple", "Apple pie"]);
    const titles = async () =>
      (await table.locator("tbody a").allInnerTexts()).filter((title) => own.has(title));
    await table.getByText("Apple pie").waitFor();
    assertEquals(await titles(), ["Apple pie", "Apple", "Zebra", MARKUP]);
    await table.getByRole("button", { name: "Title" }).click();
    assertEquals(await titles(), [MARKUP, "Apple", "Apple pie", "Zebra"]);
    assertEquals(
      await table.getByRole("columnheader", { name: "Title" }).getAttribute("aria-sort"),
      "ascending",
    );
    await table.getByRole("button", { name: "Turns" }).click();
    const zebra = table.getByRole("row", { name: "Zebra" });
    await zebra.getByRole("cell").nth(5).getByText(/[1-9]/).waitFor();
    await checkLook(page);
    await page.setViewportSize({ width: 1280, height: 800 });

    await page.getByLabel("Search titles").fill("apple");
    assertEquals((await titles()).toSorted(), ["Apple", "Apple pie"]);
    await table.getByLabel("Select all").check();
    await page.getByText("2 selected").waitFor();
    await checkLook(page);
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.getByRole("button", { name: "Export" }).click();
    const [file] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("dialog").getByRole("button", { name: "Export" }).click(),
    ]);
    const lines = (await Deno.readTextFile(await file.path())).trimEnd().split("\n");
    const kinds = lines.map((line) => JSON.parse(line).kind);
    assertEquals(kinds.filter((kind) => kind === "session").length, 2);

    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
    assertEquals((await titles()).length, 2);
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.getByText("2 conversations were deleted.").waitFor();
    await page.getByText("Nothing found.").waitFor();
    await page.getByLabel("Search titles").fill("");
    await zebra.waitFor();
    assertEquals((await titles()).length, 2);
    await zebra.getByRole("link").click();
    await page.locator(".me", { hasText: "Zebra" }).waitFor();
    assert(await page.title() !== "run");
  },
});

Deno.test({
  ...needs("the audit log is narrowed, opened and verified; permissions say who asked", "chromium"),
  async fn() {
    await using _model = shared.startModel([
      { calls: [{ tool: "list_files", args: { path: MARKUP } }] },
      { text: "done" },
    ]);
    assertEquals((await shared.home.run(["tokens", "issue", "--scopes", "read"])).code, 0);
    assertEquals((await shared.home.run(["agent", "-m", "look"])).code, 0);
    await using page = await openAt("Audit log");
    const kinds = page.locator(".record .tag");
    await kinds.filter({ hasText: "token.issued" }).first().waitFor();
    await page.getByRole("button", { name: "Actions" }).click();
    await kinds.filter({ hasText: "token.issued" }).first().waitFor({ state: "detached" });
    const shown = await kinds.allInnerTexts();
    assert(shown.length > 0 && shown.every((kind) => kind.startsWith("action")), shown.join());
    const record = page.locator(".record", { hasText: "list_files" }).first();
    await record.locator("summary").click();
    await record.getByText('"tool": "list_files"').waitFor();
    await page.getByRole("button", { name: "Verify" }).click();
    await page.getByText(/^The log is whole: \d+ records\.$/).waitFor();
    await checkLook(page);
    await page.setViewportSize({ width: 1280, height: 800 });
    assert(await page.title() !== "run");

    await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Permissions" })
      .click();
    await page.getByRole("row", { name: /^127\.0\.0\.1:\d+ providers\.local/ }).waitFor();
    await checkLook(page);
  },
});

Deno.test({
  ...needs("the page of usage shows what turns took, and what they cost", "chromium"),
  async fn() {
    await using _model = shared.startModel({ text: "hello" });
    assertEquals((await shared.home.run(["agent", "-m", "hi"])).code, 0);
    await using page = await openAt("Usage");
    const ofModels = page.getByRole("region", { name: "By model" });
    await ofModels.getByRole("row", { name: /local\/fake/ }).waitFor();
    const { stdout } = await shared.home.run(["usage", "--by", "model", "--json"]);
    const { rows: [row] } = JSON.parse(stdout);
    const cells = await ofModels.getByRole("row").last().getByRole("cell").allInnerTexts();
    assertEquals(cells.slice(0, 3), ["local/fake", String(row.turns), String(row.input_tokens)]);
    assertEquals(Number(cells[4]), row.cost);
    await page.getByRole("button", { name: "7 days" }).click();
    await page.getByRole("img", { name: /^Tokens of each day/ }).waitFor();
    await page.locator(".chart g").nth(7).waitFor({ state: "detached" });
    assertEquals(await page.locator(".chart g").count(), 7);
    const today = new Date().toISOString().slice(0, 10);
    await page.getByLabel("From", { exact: true }).fill(today);
    await page.locator(".chart g").nth(1).waitFor({ state: "detached" });
    await page.getByText("Days as a table").click();
    assertEquals(await page.getByRole("region", { name: "By day" }).getByRole("row").count(), 2);
    await page.getByLabel("From", { exact: true }).fill("2026-01-01");
    await page.getByLabel("To", { exact: true }).fill("2026-01-03");
    await page.getByText("No turn ended in this period: Jan 1 – 3, 2026.").waitFor();
    await checkLook(page);
    await page.getByRole("button", { name: "30 days" }).click();
    await checkLook(page);
  },
});

Deno.test({
  ...needs("the app can be installed, and what another app shares becomes a message", "chromium"),
  async fn() {
    await using page = await openPage(httpOf(shared.service.wsUrl).href);
    await page.getByLabel("Message", { exact: true }).waitFor();
    const manifest = await page.evaluate(`(async () => {
      const answer = await fetch(document.querySelector("link[rel=manifest]").href);
      const { icons, share_target } = await answer.json();
      const pictures = icons.map(({ src }) => fetch(src).then(({ status }) => status));
      return [answer.headers.get("content-type"), await Promise.all(pictures), share_target.action];
    })()`);
    assertEquals(manifest, ["application/manifest+json", [200, 200, 200], "/webui/share"]);
    await page.evaluate(`(async () => {
      const workers = navigator.serviceWorker;
      await workers.ready;
      while (workers.controller === null) {
        await new Promise((done) => workers.addEventListener("controllerchange", done, { once: true }));
      }
      const form = new FormData();
      form.set("title", "A title");
      form.set("text", "<b>shared</b>");
      form.append("files", new File(["picture"], "pi cture.png", { type: "image/png" }));
      await fetch("/webui/share", { method: "POST", body: form });
    })()`);
    await page.reload();
    const box = page.getByLabel("Message", { exact: true });
    await page.getByText("pi cture.png").waitFor();
    assertEquals(await box.inputValue(), "A title\n<b>shared</b>");
    // It is taken once.
    await box.fill("");
    await page.reload();
    await box.waitFor();
    assertEquals(await page.getByText("pi cture.png").count(), 0);
  },
});
