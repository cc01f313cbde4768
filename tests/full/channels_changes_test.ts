/** Channels that are changed while a gateway runs: the one that is meant, and no other (C35). */

import { assert, assertEquals, assertGreater, assertStringIncludes } from "@std/assert";
import { LinePlatform } from "../../lib/delivery/manager/testing/line_platform.ts";
import { startModelServer } from "../fakes/model_server.ts";
import { ChannelSettings } from "../support/channel_settings.ts";
import { editSection } from "../support/edit_section.ts";
import { makeHome } from "../support/home.ts";
import { outboxOf, turnsOf } from "../support/outbox_of.ts";
import { said } from "../support/said.ts";
import { happeningsOf, talkSection, testProject, textsOf } from "../support/talk_channels.ts";
import { WEBHOOK_SECRET, WebhookSide } from "../support/webhook_side.ts";

const OTHER_SECRET = `whsec_${btoa("x".repeat(32))}`;

let project: Awaited<ReturnType<typeof testProject>>;

Deno.test.beforeAll(async () => {
  project = await testProject();
});

Deno.test.afterAll(async () => await project[Symbol.asyncDispose]());

async function open() {
  const slowly = Promise.withResolvers<void>();
  const model = startModelServer({
    async script(request) {
      if (said(request) === "slow") await slowly.promise;
      return { text: `re ${said(request)}` };
    },
  });
  const side = await WebhookSide.open();
  const talk = new LinePlatform();
  const chat = new LinePlatform();
  const off = { enabled: false };
  const home = await makeHome({
    agent: { model: "local/fake" },
    providers: { local: { baseUrl: model.baseUrl } },
    channels: {
      webhook: side.section,
      talk: talkSection(talk),
      chat: { ...talkSection(chat), ...off },
      unlucky: { ...talkSection(chat), ...off },
      exits: { ...talkSection(chat), ...off },
    },
  }, project.root);
  const gateway = await home.start(["gateway", "--json"]);
  await side.connected();
  const settings = await ChannelSettings.open(gateway);
  const lines = happeningsOf(talk);
  let rounds = 0;
  return {
    home,
    gateway,
    settings,
    side,
    chat,
    model,
    /** Lets the model answer what is `slow`. */
    answerSlowly: () => slowly.resolve(),
    /** A channel that is not meant answers, over the connection that it has had all the time. */
    async assertUntouched(): Promise<void> {
      const text = `round ${++rounds}`;
      talk.say({ id: text, chat: "c", text });
      await lines.until(() => textsOf(talk, "c").includes(`re ${text}`));
      assertEquals(talk.connections, 1);
      const { state, restarts } = (await settings.statuses()).get("talk")!;
      assertEquals([state, restarts], ["running", 0]);
    },
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      for (const each of [home, talk, chat, side, model]) {
        await each[Symbol.asyncDispose]();
      }
    },
  };
}

Deno.test("(C35) a webhook that is changed again and again under load loses and doubles nothing, and no other channel notices", async () => {
  await using world = await open();
  const { home, settings, side, assertUntouched } = world;
  const COUNT = 60;
  const chats = ["a", "b", "c"];
  let said = 0;
  const speaking = Promise.all(chats.map(async (chat) => {
    for (let at = 0; at < COUNT / chats.length; at++) {
      await side.say({ id: `${chat}${at}`, chat, text: `${chat} ${at}` });
      said += 1;
      side.happenings.note();
    }
  }));
  // Each change comes between messages, over the port, from the command line and in the file by turns.
  for (let at = 1; at <= 5; at++) {
    await side.happenings.until(() => said >= at * 10);
    const timeoutS = 20 + at;
    if (at % 2 === 1) {
      const { status, body } = await settings.set("webhook", { timeoutS });
      assertEquals([status, body.channel?.config_values.timeoutS], [200, timeoutS]);
    } else await editSection(home, "webhook", (section) => ({ ...section, timeoutS }));
    await assertUntouched();
  }
  await speaking;
  for (const chat of chats) {
    await side.taken(chat, COUNT / chats.length);
    const order = Array.from({ length: COUNT / chats.length }, (_, at) => `re ${chat} ${at}`);
    // One that was being sent when its runtime ended may come again, with the id that it had.
    const ids = new Map(
      side.events.filter(({ chat_id }) => chat_id === chat).map(({ id, text }) => [id, text]),
    );
    assertEquals([...ids.values()], order);
    assertEquals((await turnsOf(home)).get(`webhook:${chat}`), COUNT / chats.length);
  }
  assertEquals(await outboxOf(home, ["pending", "sending", "unknown", "dead"]), []);
});

Deno.test("(C35) a secret is changed over the port, and settings that cannot be used leave the old instance answering", async () => {
  await using world = await open();
  const { home, gateway, settings, side, assertUntouched } = world;
  const answers = async (text: string) => {
    await side.say({ id: text.replaceAll(" ", "-"), chat: "a", text });
    await side.happenings.until(() => side.texts("a").includes(`re ${text}`));
  };
  await answers("first");

  const changed = await settings.set("webhook", { secret: OTHER_SECRET });
  assertEquals(changed.status, 200);
  assert(!JSON.stringify(changed.body).includes(OTHER_SECRET));
  await side.changeSecret(OTHER_SECRET);
  await answers("second");
  await side.changeSecret(WEBHOOK_SECRET);
  assertEquals((await side.post({ id: "old", chat: "a", text: "old" })).status, 401);
  await side.changeSecret(OTHER_SECRET);
  assertEquals(side.unsigned, 0);
  await assertUntouched();

  // What is wrong is refused where it can be, and written nowhere.
  const before = await Deno.readTextFile(`${home.dir}/home/config.json`);
  for (const values of [{ secret: "hunter2hunter2" }, { port: "many" }, { nonsense: 1 }]) {
    const { status, body } = await settings.set("webhook", values);
    assertEquals(status, 400, JSON.stringify(values));
    assertStringIncludes(body.error.message, Object.keys(values)[0]!);
  }
  assertEquals(await Deno.readTextFile(`${home.dir}/home/config.json`), before);
  await answers("third");

  // In the file it cannot be refused: the one that runs goes on, and says why it is not another.
  for (const wrong of [{ port: "many" }, { secret: "" }, { url: "no url" }]) {
    let right: Record<string, unknown> = {};
    await editSection(home, "webhook", (section) => ({ ...(right = section), ...wrong }));
    const { problem, state } = await settings.until("webhook", (one) => one.problem !== undefined);
    assertEquals(state, "running");
    assertStringIncludes(problem!, Object.keys(wrong)[0]!);
    await answers(`with ${Object.keys(wrong)[0]}`);
    await editSection(home, "webhook", () => right);
    await settings.until("webhook", (one) => one.problem === undefined);
    await answers(`without ${Object.keys(wrong)[0]}`);
  }
  // A file that does not load at all changes nothing for anybody.
  let right: unknown;
  await editSection(
    home,
    "webhook",
    (section) => ((right = section), { ...section, enabled: "maybe" }),
  );
  await assertUntouched();
  await answers("with a broken file");
  await editSection(home, "webhook", () => right);
  await answers("with a mended file");
  assert(!gateway.log().includes(OTHER_SECRET));
  assertEquals((await settings.statuses()).get("webhook")!.restarts, 0);
});

Deno.test("channels are switched on and off while others run, and one that ends again and again waits with its reason", async () => {
  await using world = await open();
  const { home, gateway, settings, chat, model, answerSlowly, assertUntouched } = world;
  const lines = happeningsOf(chat);
  const plugins = async (...args: string[]) => {
    const { code, stderr } = await home.run(["plugins", ...args]);
    assertEquals(code, 0, stderr);
  };
  await plugins("enable", "chat");
  chat.say({ id: "1", chat: "x", text: "one" });
  await lines.until(() => chat.given.length === 1);
  await assertUntouched();

  // Switched off between a message and its answer.
  chat.say({ id: "2", chat: "x", text: "slow" });
  await lines.until(() => chat.acked === 2);
  while (model.requests.length < 3) await model.request(model.requests.length);
  assertEquals((await settings.call("POST", "/chat/disable")).status, 200);
  await lines.until(() => chat.open === 0);
  assertEquals((await settings.until("chat", ({ state }) => state === "off")).restarts, 0);
  answerSlowly();
  await settings.until("chat", ({ deliveries }) => deliveries.waiting === 1);
  // What is said meanwhile, on either side, is there when it is back.
  chat.say({ id: "3", chat: "x", text: "three" });
  await editSection(home, "chat", (section) => ({ ...section, enabled: true }));
  await lines.until(() => chat.given.length === 3);
  assertEquals(textsOf(chat, "x"), ["re one", "re slow", "re three"]);
  await assertUntouched();

  for (const [name, reason] of [["unlucky", "no luck today"], ["exits", ""]] as const) {
    await plugins("enable", name);
    const status = await settings.until(
      name,
      ({ state, restarts }) => state === "waiting" && restarts >= 1,
    );
    assertStringIncludes(status.problem!, reason);
    assertGreater(status.problem!.length, 5);
    await assertUntouched();
  }
  const { stdout } = await home.run(["channels", "status"]);
  assertStringIncludes(stdout, "no luck today");
  // An end while they wait to be started again ends at once.
  await settings.call("POST", "/unlucky/disable");
  assertEquals(await gateway.stop(), 0, gateway.log());
});
