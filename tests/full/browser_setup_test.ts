/** What is set up in the browser app: a first model, settings, channels. Each is used once for real. */

import type { Page } from "playwright-core";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import * as olm from "@matrix-org/matrix-sdk-crypto-wasm";
import { FakeHomeserver } from "../../channels/matrix/testing/fake_homeserver.ts";
import { FakePerson } from "../../channels/matrix/testing/fake_person.ts";
import { ACCOUNT, FakeSignal } from "../../channels/signal/testing/fake_signal.ts";
import { USUAL_SERVERS } from "../../lib/model/find_local_servers.ts";
import { type ModelServer, startModelServer } from "../fakes/model_server.ts";
import { checkLook, openPage } from "../support/browser.ts";
import { openJournal } from "../../lib/journal/open.ts";
import { openOperatorState } from "../../lib/state/operator_state.ts";
import { freePort } from "../support/free_port.ts";
import { makeHome } from "../support/home.ts";
import { needs } from "../support/needs.ts";
import { readSvgQr } from "../support/read_qr.ts";
import { shareService } from "../support/shared_service.ts";
import { httpOf } from "../support/wire_socket.ts";

const MARKUP = `<img src=x onerror="document.title='run'">`;
const LINES = `${MARKUP}\nBe brief.`;
const KEY = "a-key-of-the-provider";
/** One more automation than the service lists at once. */
const COUNT = 201;

let modelUrl: string;

// A service that is started again has the same port.
const shared = shareService((baseUrl) => {
  modelUrl = baseUrl;
  return { channels: { websocket: { port: freePort() } }, agent: { instructions: LINES } };
}, ["gateway", "--json"]);

const configFile = () => `${shared.home.dir}/home/config.json`;

const readConfig = async () => JSON.parse(await Deno.readTextFile(configFile()));

async function openAt(place: string): Promise<Page & AsyncDisposable> {
  return await openPage(`${httpOf(shared.service.wsUrl).href}${place}`);
}

/** Presses Tab until what has that role and name is in focus. */
async function tabTo(page: Page, role: "button" | "textbox" | "link" | "spinbutton", name: string) {
  const wanted = page.getByRole(role, { name }).first().and(page.locator(":focus"));
  for (let presses = 0; presses < 200; presses++) {
    if (await wanted.count() > 0) return;
    await page.keyboard.press("Tab");
  }
  throw new Error(`Tab doesn't reach ${name}`);
}

Deno.test({
  ...needs("a first model is connected by keyboard alone, and answers at once", "chromium"),
  async fn() {
    await using _model = shared.startModel([
      { status: 401 },
      { text: "OK" },
      { text: "Hello from the model" },
    ]);
    const before = await readConfig();
    await using page = await openAt("");
    await page.getByText("OpenRouter").waitFor();
    await checkLook(page);
    await tabTo(page, "button", "Another server");
    await page.keyboard.press("Enter");
    const address = page.getByLabel("Address or name");
    await address.waitFor();
    const nowhere = `127.0.0.1:${freePort()}`;
    await page.keyboard.type(`http://${nowhere}/v1`);
    await page.keyboard.press("Enter");
    await page.getByRole("alert").getByText(`Can't reach ${nowhere}`).waitFor();
    await checkLook(page);
    // What is wrong has the focus.
    await page.keyboard.press("Control+a");
    await page.keyboard.type(modelUrl);
    await page.keyboard.press("Tab");
    await page.keyboard.type(KEY);
    await page.keyboard.press("Enter");
    await page.getByRole("alert").getByText("refused the key").waitFor();
    assertEquals(await readConfig(), before);
    await page.keyboard.press("Enter");
    await page.getByText("server/fake answers").waitFor();
    await page.getByLabel("Message", { exact: true }).fill("hi");
    await page.keyboard.press("Enter");
    await page.locator(".agent", { hasText: "Hello from the model" }).waitFor();

    const { agent, providers } = await readConfig();
    assertEquals(agent.model, "server/fake");
    assertEquals(providers.server, { baseUrl: modelUrl, apiKey: "${secret:SERVER_API_KEY}" });
    const { stdout } = await shared.home.run(["secrets", "list", "--json"]);
    assertStringIncludes(stdout, new URL(modelUrl).host);
    assert(!(await page.content()).includes(KEY));
    const log = await shared.home.run(["audit", "list", "--kind", "service.restart"]);
    assertStringIncludes(log.stdout, "service.restart");
  },
});

/** At the first usual port of a model server that is free here. */
function startUsualServer(): { name: string; model: ModelServer } {
  for (const { name, port } of USUAL_SERVERS) {
    try {
      return { name, model: startModelServer({ port, script: { text: "Hello from here" } }) };
    } catch (error) {
      if (!(error instanceof Deno.errors.AddrInUse)) throw error;
    }
  }
  throw new Error("The usual ports of model servers are all in use");
}

Deno.test({
  ...needs("a model server of this machine is found, tested, and answers", "chromium"),
  async fn() {
    const { name, model } = startUsualServer();
    await using _model = model;
    await using home = await makeHome({ channels: { websocket: { port: freePort() } } });
    await using service = await home.start(["gateway", "--json"]);
    await using page = await openPage(httpOf(service.wsUrl).href);
    await page.getByText("a built-in model answers in a fixed way").waitFor();
    await page.getByRole("button", { name: `${name} Runs on this machine, 1 model` }).click();
    await page.getByRole("button", { name: "Connect", exact: true }).click();
    await page.getByText(/fake answers, in/).waitFor();
    await page.getByLabel("Message", { exact: true }).fill("hi");
    await page.keyboard.press("Enter");
    await page.locator(".agent", { hasText: "Hello from here" }).waitFor();
  },
});

Deno.test({
  ...needs("the page of settings changes a key, says what is wrong, and starts again", "chromium"),
  async fn() {
    await using page = await openAt("#/settings/agent");
    const steps = page.locator('[data-path="agent.maxSteps"]');
    await tabTo(page, "spinbutton", "agent.maxSteps");
    await page.keyboard.press("Control+a");
    await page.keyboard.type("5000");
    await page.keyboard.press("Enter");
    await steps.getByText("5000 is not an integer from 1 to 1000").waitFor();
    await checkLook(page);
    await page.keyboard.press("Control+a");
    await page.keyboard.type("7");
    await page.keyboard.press("Enter");
    await steps.getByText("Saved, and in force.").waitFor();
    assertEquals((await readConfig()).agent.maxSteps, 7);
    await steps.getByRole("button", { name: "Back to default: 50" }).click();
    await steps.getByText("from the file").waitFor({ state: "detached" });
    assertEquals((await readConfig()).agent.maxSteps, undefined);
    assertEquals(await page.getByLabel("agent.instructions").inputValue(), LINES);

    // What people name themselves has a form, and a list has rows.
    await page.getByRole("button", { name: "Add to Presets" }).click();
    const preset = page.getByRole("form", { name: "Presets" });
    await page.keyboard.type("very fast");
    await preset.getByRole("button", { name: "Add" }).click();
    await preset.getByRole("alert").getByText("model").waitFor();
    await preset.getByLabel("Model", { exact: true }).fill("server/fake");
    await preset.getByLabel("Temperature").fill("0.5");
    await checkLook(page);
    await preset.getByRole("button", { name: "Add" }).click();
    const made = page.getByRole("group", { name: "very fast" });
    await made.waitFor();
    const models = page.locator('[data-path="agent.fallbacks"]');
    await models.getByRole("textbox").fill("server/fake");
    await models.getByRole("button", { name: "Add" }).click();
    await page.keyboard.type("server/other");
    await models.getByRole("button", { name: "Remove server/fake" }).click();
    await models.getByRole("button", { name: "Save" }).click();
    await models.getByText("Saved").waitFor();
    const { fallbacks, presets } = (await readConfig()).agent;
    assertEquals(fallbacks, ["server/other"]);
    assertEquals(presets, { "very fast": { model: "server/fake", temperature: 0.5 } });
    await made.getByRole("button", { name: "Remove very fast?" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
    await made.waitFor({ state: "detached" });
    assertEquals((await readConfig()).agent.presets, {});
    await page.getByLabel("Search settings").fill("headers");
    await page.getByRole("button", { name: "Add to Request headers" }).click();
    const header = page.getByRole("form", { name: "Request headers" });
    await page.keyboard.type("X-Team.Name");
    await header.getByLabel("Value").fill("a-secret-of-the-team");
    await header.getByRole("button", { name: "Add" }).click();
    await page.getByLabel("X-Team.Name").waitFor();
    assertEquals((await readConfig()).providers.server.headers, {
      "X-Team.Name": "a-secret-of-the-team",
    });
    assertEquals(await page.getByLabel("X-Team.Name").inputValue(), "");
    assertEquals(await page.locator("textarea.json").count(), 0);
    await page.getByLabel("Search settings").fill("");

    // What takes a restart says so, with what the service would be given then.
    await page.getByLabel("Search settings").fill("baseUrl");
    await page.getByLabel("providers.server.baseUrl").fill("http://127.0.0.1:9/v1");
    await page.getByRole("button", { name: "Save" }).click();
    await page.locator(".problem", { hasText: "SERVER_API_KEY" }).waitFor();
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByLabel("Search settings").fill("drain");
    await page.getByLabel("agent.drainTimeoutS").fill("5");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("It counts after a restart.").waitFor();
    await page.getByRole("button", { name: "Restart now" }).click();
    await page.locator(".notice").waitFor({ state: "detached" });
    assertEquals(await page.getByLabel("agent.drainTimeoutS").inputValue(), "5");

    // What the service would reach in addition isn't for a page to decide.
    const good = await Deno.readTextFile(configFile());
    const config = JSON.parse(good);
    config.providers.other = { baseUrl: "http://192.0.2.1:9000/v1" };
    await Deno.writeTextFile(configFile(), JSON.stringify(config));
    await page.reload();
    await page.getByRole("button", { name: "Restart now" }).click();
    await page.getByText("more permissions: net 192.0.2.1:9000").waitFor();

    // A file that doesn't load is told, and so is what is odd in it.
    await Deno.writeTextFile(
      configFile(),
      good.replace('"agent"', `"agent": {}, "gates": "${"x"}", "b"`),
    );
    await page.reload();
    await page.getByRole("alert").getByText("The configuration file has problems.").waitFor();
    await checkLook(page);
    await Deno.writeTextFile(configFile(), good);
    assert(await page.title() !== "run");
  },
});

Deno.test({
  ...needs(
    "the page of channels sets one up, switches it on, and answers what came too late",
    "chromium",
  ),
  async fn() {
    const port = freePort();
    await using _model = shared.startModel({ text: "not too late" });
    await using page = await openAt("#/channels");
    await page.getByRole("link", { name: "WebSocket running" }).waitFor();
    // What can be added says what it is, and is found by that.
    const offers = page.getByRole("region", { name: "Add a channel" }).getByRole("link");
    await offers.getByText("@BotFather").waitFor();
    await page.getByLabel("Search channels").fill("botfather");
    assertEquals((await offers.allInnerTexts()).map((text) => text.includes("Telegram")), [true]);
    await page.getByLabel("Search channels").fill("no such words");
    await page.getByText("No channel has these words.").waitFor();
    await page.getByLabel("Search channels").fill("");
    assertEquals(await page.getByText("not set up").count(), 0);
    await checkLook(page);
    await tabTo(page, "link", "Webhook");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Webhook", level: 1 }).waitFor();
    const title = await page.locator('[data-field="secret"] label').innerText();
    await page.getByText(`Still needed: ${title}`).waitFor();
    await page.getByRole("button", { name: "Switch on" }).click();
    await page.getByText("secret is not set").waitFor();
    const secret = page.locator('[data-field="secret"]');
    await secret.getByRole("textbox").fill("not a secret");
    await page.getByRole("button", { name: "Save" }).click();
    // The channel's own words, beside the field.
    await secret.locator(".problem").waitFor();
    await checkLook(page);
    assertEquals((await readConfig()).channels.webhook, undefined);
    await secret.getByRole("textbox").fill("");
    // The package of the channel brings this part of the page along.
    await page.getByRole("button", { name: "Make a secret" }).click();
    await page.getByText("It is saved.").waitFor();
    const made = await page.locator(".shown code").innerText();
    assertEquals((await readConfig()).channels.webhook.secret, made);
    const people = page.locator('[data-field="allowFrom"]');
    await people.getByRole("textbox").fill(MARKUP);
    await people.getByRole("button", { name: "Add" }).click();
    // The new row has the focus.
    await page.keyboard.type("ann");
    await page.getByText(/more settings/).click();
    await page.locator('[data-field="port"]').getByRole("spinbutton").fill(String(port));
    await page.getByRole("button", { name: "Check" }).click();
    await page.getByText("give the secret anew with it").waitFor();
    await secret.getByRole("textbox").fill(made);
    await page.getByRole("button", { name: "Check" }).click();
    await page.getByText("Nothing is wrong with these settings.").waitFor();
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved.").waitFor();
    await page.getByRole("button", { name: "Switch on" }).click();
    await page.getByText("running").waitFor();
    const { webhook } = (await readConfig()).channels;
    assertEquals([webhook.enabled, webhook.port, webhook.allowFrom], [true, port, [MARKUP, "ann"]]);
    const answer = await fetch(`http://127.0.0.1:${port}/webhook`, { method: "POST" });
    await answer.body?.cancel();
    assertEquals(answer.status, 415);

    // A platform handed these over after the service was down for long.
    const journal = openJournal({ path: `${shared.home.dir}/home/data/service.db` });
    const late = { runtimeName: "webhook", chatId: "c", senderId: "ann", files: [], metadata: {} };
    for (const content of [MARKUP, "second"]) {
      await journal.missed.add({ ...late, content, streaming: false, sentAt: 1_000 });
    }
    await journal.close();
    const first = page.getByRole("listitem").filter({ hasText: MARKUP });
    await first.getByRole("button", { name: "Answer now" }).click();
    await page.getByText("The agent answers it now.").waitFor();
    await checkLook(page);
    await page.getByRole("button", { name: "Clear" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Clear" }).click();
    await page.getByText("came too late").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Switch off" }).click();
    await page.getByRole("button", { name: "Switch on" }).waitFor();

    // A channel with several accounts.
    await page.getByRole("link", { name: "All channels" }).click();
    await page.getByRole("link", { name: "IRC" }).waitFor();
    await page.getByRole("link", { name: "Telegram" }).click();
    await page.getByLabel("Name of another account").fill("work");
    await page.keyboard.press("Enter");
    const work = page.getByRole("region", { name: "work" });
    await work.locator('[data-field="token"]').getByRole("textbox").fill(
      `123456789:${"A".repeat(35)}`,
    );
    await work.getByRole("button", { name: "Save" }).click();
    await work.getByText("Saved.").waitFor();
    assertEquals((await readConfig()).channels.telegram.accounts.work.token.length, 45);
    assertEquals(await page.locator("main img").count(), 0);
    assert(await page.title() !== "run");
  },
});

Deno.test({
  ...needs("codes that wait are allowed and dismissed on the page of channels", "chromium"),
  async fn() {
    const config = await readConfig();
    await Deno.writeTextFile(
      configFile(),
      JSON.stringify({ ...config, channels: { ...config.channels, webhook: { allowFrom: [] } } }),
    );
    const state = await openOperatorState({
      dir: `${shared.home.dir}/home/operator`,
      keysDir: `${shared.home.dir}/home/keys`,
    });
    const stranger = { channel: "webhook", runtimeName: "webhook" };
    await state.pairings.ask({ ...stranger, senderId: "ann-1", senderName: MARKUP });
    const bob = await state.pairings.ask({ ...stranger, senderId: "bob-2", senderName: "Bob" });
    await using page = await openAt("#/channels");
    const waiting = page.getByRole("region", { name: "Waiting to be let in" });
    await waiting.getByText(bob!.code).waitFor();
    await checkLook(page);
    await waiting.getByRole("button", { name: "Dismiss Bob" }).click();
    await waiting.getByText("Bob", { exact: true }).waitFor({ state: "detached" });
    await waiting.getByRole("button", { name: "Allow" }).click();
    await waiting.waitFor({ state: "detached" });
    assertEquals((await readConfig()).channels.webhook.allowFrom, ["ann-1"]);
    assertEquals(state.pairings.list(), []);
    await state.close();
    assert(await page.title() !== "run");
  },
});

Deno.test({
  ...needs("a channel that is connected step by step shows a code, and asks for one", "chromium"),
  async fn() {
    await using page = await openAt("#/chat");
    // What a connector of another kind would answer is said here.
    const steps = [
      // Nothing was under way before the page was opened.
      { state: "cancelled", message: "old" },
      { state: "waiting", message: MARKUP, show: { code: "1234", url: "javascript:alert(1)" } },
      { state: "waiting", message: "A code was sent", asks: "Code of the message" },
      { state: "connected", message: "Connected as ann" },
    ];
    const asked: [string, string | null][] = [];
    await page.route("**/api/settings/channels?**", async (route) => {
      const answer = await (await route.fetch()).json();
      const channels = answer.channels.map((each: object) => ({ ...each, connects: true }));
      await route.fulfill({ json: { channels } });
    });
    await page.route("**/api/settings/channels/*/connect/*", async (route) => {
      const request = route.request();
      asked.push([new URL(request.url()).pathname.split("/").at(-1)!, request.postData()]);
      // It waits until somebody has typed.
      const isTyped = asked.at(-1)![1]?.includes("5678") === true;
      const at = isTyped ? 3 : Math.min(asked.length, 3) - 1;
      await route.fulfill({ json: steps[at]! });
    });
    await page.getByRole("link", { name: "Channels" }).click();
    await page.getByRole("link", { name: "Webhook" }).click();
    await page.getByRole("button", { name: "Connect" }).click();
    await page.getByText(MARKUP).waitFor();
    await page.getByText("1234").waitFor();
    assertEquals(await page.locator(".connect-flow a, .connect-flow img").count(), 0);
    // It asks for nothing yet, so there is nothing to type.
    assertEquals(await page.locator(".connect-flow input").count(), 0);
    await page.getByLabel("Code of the message").fill("5678");
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByText("Connected as ann").waitFor();
    assertEquals(asked.slice(0, 3).map(([action]) => action), ["poll", "start", "poll"]);
  },
});

Deno.test({
  ...needs("an account of Signal is linked by the QR code of its page, and runs", "chromium"),
  async fn() {
    const signal = await FakeSignal.open();
    signal.accounts.clear();
    await using page = await openAt("#/channels");
    await page.getByRole("link", { name: "Signal" }).click();
    await page.getByText(/more settings/).click();
    await page.locator('[data-field="port"]').getByRole("spinbutton").fill(String(signal.port));
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved.").waitFor();
    await page.getByRole("button", { name: "Connect" }).click();
    const code = page.getByRole("img", { name: "QR code to scan" });
    const shown = async () => {
      const [, , size] = (await code.getAttribute("viewBox"))!.split(" ");
      return readSvgQr((await code.locator("path").getAttribute("d"))!, Number(size));
    };
    await code.waitFor();
    const first = await shown();
    assertEquals(signal.links, [first]);
    // Whoever loads the page anew sees the same one, and may cancel it.
    await page.reload();
    await code.waitFor();
    assertEquals(await shown(), first);
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByText("The connection was cancelled").waitFor();
    await page.getByRole("button", { name: "Connect" }).click();
    await code.waitFor();
    signal.scan(await shown(), ACCOUNT);
    await page.getByText(`Connected as ${ACCOUNT}`).waitFor();
    assertEquals((await readConfig()).channels.signal, { port: signal.port, account: ACCOUNT });
    await page.getByRole("button", { name: "Switch on" }).click();
    await page.getByText(`connected as ${ACCOUNT} by signal-cli`).waitFor();
    await page.getByRole("button", { name: "Switch off" }).click();
    await page.getByRole("button", { name: "Switch on" }).waitFor();
    await signal.close();
  },
});

Deno.test({
  ...needs(
    "the session of an encrypted Matrix account is verified by emoji on its page",
    "chromium",
  ),
  async fn() {
    const server = await FakeHomeserver.open();
    using element = await FakePerson.open(server, server.me, "ELEMENT");
    await element.makeIdentity();
    const { homeserver, accessToken } = server.section as Record<string, string>;
    const config = await readConfig();
    await Deno.writeTextFile(
      configFile(),
      JSON.stringify({
        ...config,
        channels: { ...config.channels, matrix: { homeserver, accessToken, enabled: true } },
      }),
    );
    assertEquals((await shared.home.run(["reload"])).code, 0);
    await using page = await openAt("#/channels/matrix");
    const part = page.getByRole("region", { name: "Verify by emoji" });
    const press = (name: string) => part.getByRole("button", { name, exact: true }).click();
    await press("Verify by emoji");
    await part.getByText("not verified by its account").waitFor();
    await press("Cancel");
    await part.getByText("Show everybody").waitFor();

    /** The bot's other client asks, and goes on until both sides see the emoji. */
    async function compare(): Promise<[olm.Sas, string[]]> {
      await element.machine.markAllTrackedUsersAsDirty();
      await element.sync();
      const sessions = await element.machine.getUserDevices(new olm.UserId(server.me));
      const bot = sessions.devices().find(({ deviceId }) => deviceId.toString() !== "ELEMENT")!;
      const [request, asked] = bot.requestVerification([olm.VerificationMethod.SasV1]);
      await element.send(asked);
      const sas = () => request.getVerification() as olm.Sas | undefined;
      while (!sas()?.canBePresented()) {
        await page.waitForResponse("**/verify");
        await element.sync();
        if (request.isReady() && sas() === undefined) {
          await element.send((await request.startSas())![1]);
        }
      }
      await part.getByRole("listitem").nth(6).waitFor();
      return [sas()!, await part.getByRole("listitem").allInnerTexts()];
    }

    await press("Verify by emoji");
    await compare();
    await checkLook(page);
    await press("They don’t match");
    await part.getByRole("alert").getByText("Not verified: ").waitFor();

    await press("Verify by emoji");
    const [sas, shown] = await compare();
    assertEquals(
      shown.map((text) => text.split(/\s+/)),
      sas.emoji()!.map(({ symbol, description }) => [symbol, ...description.split(" ")]),
    );
    for (const made of await sas.confirm()) await element.send(made);
    await press("They match");
    const done = part.getByText(`Verified with ${server.me}.`);
    while (!await done.isVisible()) {
      await Promise.race([page.waitForResponse("**/verify"), done.waitFor()]);
      await element.sync();
    }
    await part.getByText("· verified by its account").waitFor();
    await using german = await openPage(page.url(), { locale: "de" });
    await german.getByRole("button", { name: "Mit Emojis verifizieren" }).waitFor();
    await page.getByRole("button", { name: "Switch off" }).click();
    await page.getByRole("button", { name: "Switch on" }).waitFor();
    await server.close();
  },
});

Deno.test({
  ...needs("the page of automations sorts and searches all of them, and shows 50", "chromium"),
  async fn() {
    const url = httpOf(shared.service.wsUrl);
    const { api_token } = await (await fetch(new URL("/webui/bootstrap", url))).json();
    const headers = { authorization: `Bearer ${api_token}`, "content-type": "application/json" };
    const send = async (method: string, path: string, body: unknown) => {
      const at = new URL(`/api/webui/automations${path}`, url);
      const answer = await fetch(at, { method, headers, body: JSON.stringify(body) });
      const made = await answer.json();
      assertEquals(answer.status, 200, made.error?.message);
      return made;
    };
    const ids: string[] = [];
    const schedule = { cron: "0 7 1 1 *", timeZone: "UTC" };
    for (let at = 0; at < COUNT; at++) {
      const plan = { name: `Plan ${at}`, schedule, message: "Plan", enabled: false };
      ids.push((await send("POST", "", plan)).id);
    }
    // One that no single answer of the service has beside the first.
    await send("PUT", `/${ids.toSorted().at(-1)}`, { name: "The next", enabled: true });
    await using page = await openAt("#/automations");
    const rows = page.locator(".records > li");
    await rows.nth(49).waitFor();
    assertEquals(await rows.count(), 50);
    assertStringIncludes(await rows.first().innerText(), "The next");
    await checkLook(page);
    await page.getByLabel("Search automations").fill("next");
    await rows.nth(1).waitFor({ state: "detached" });
    assertEquals(await rows.count(), 1);
    await page.getByRole("button", { name: "Off", exact: true }).click();
    await page.getByText("No automation fits.").waitFor();
    await page.getByLabel("Search automations").fill("");
    for (const end of [100, 150, 200]) {
      await page.getByRole("button", { name: "Show more" }).click();
      await rows.nth(end - 1).waitFor();
    }
    assertEquals(new Set(await rows.locator(".strong").allInnerTexts()).size, COUNT - 1);
    assertEquals(await page.getByRole("button", { name: "Show more" }).count(), 0);
  },
});
