/** One platform that fails holds up its own chats and nothing else (C24). */

import { assert, assertEquals, assertGreater, assertLess } from "@std/assert";
import { LinePlatform } from "../../lib/delivery/manager/testing/line_platform.ts";
import { startModelServer } from "../fakes/model_server.ts";
import { makeHome } from "../support/home.ts";
import { channelStatuses, outboxOf } from "../support/outbox_of.ts";
import { said } from "../support/said.ts";
import { happeningsOf, talkSection, testProject, textsOf } from "../support/talk_channels.ts";
import { WebhookSide } from "../support/webhook_side.ts";
import { rounds } from "../support/rounds.ts";

const ROUNDS = rounds(15, 6);

Deno.test("(C24) a platform that refuses connections, hangs or answers 500 delays no other channel and no other chat", async () => {
  await using project = await testProject();
  await using model = startModelServer({ script: (request) => ({ text: `re ${said(request)}` }) });
  await using side = await WebhookSide.open();
  await using platform = new LinePlatform();
  const lines = happeningsOf(platform);
  await using home = await makeHome({
    agent: { model: "local/fake" },
    providers: { local: { baseUrl: model.baseUrl } },
    channels: {
      // One that hangs, hangs for as long as it is let.
      webhook: { ...side.section, timeoutS: 60, sendMaxRetries: 100 },
      talk: talkSection(platform),
    },
  }, project.root);
  await using _gateway = await home.start(["gateway", "--json"]);
  await side.connected();

  let bad = 0;
  const expected: string[] = [];
  /** Three messages for the chat that will not be delivered. */
  async function sayBad(): Promise<void> {
    for (let n = 0; n < 3; n++) {
      const text = `bad ${++bad}`;
      expected.push(`re ${text}`);
      await side.say({ id: text.replace(" ", ""), chat: "bad", text });
    }
  }
  let round = 0;
  const others: string[] = [];
  /** Each message after the answer to the one before: whatever waits anywhere would hold them up. */
  async function talk(): Promise<void> {
    for (let n = 0; n < ROUNDS; n++) {
      const text = `line ${++round}`;
      others.push(`re ${text}`);
      platform.say({ id: text, chat: "c", text });
      await lines.until(() => textsOf(platform, "c").length === round);
    }
  }
  let good = 0;
  /** The same with another chat of the channel whose platform fails. */
  async function sayGood(): Promise<void> {
    for (let n = 0; n < ROUNDS; n++) {
      await side.say({ id: `good${++good}`, chat: "good", text: `good ${good}` });
      await side.taken("good", good);
    }
  }

  // It answers 500 to one chat.
  side.react = ({ chat_id }) => chat_id === "bad" ? 500 : 204;
  await sayBad();
  const before = side.requests;
  await Promise.all([talk(), sayGood()]);
  assertEquals(side.texts("bad"), []);
  // Fewer tries of the one than rounds of the others: they do not wait for each other.
  assertLess(side.requests - before - ROUNDS, ROUNDS / 2);

  // It leaves one chat without an answer.
  const hanging = Promise.withResolvers<number>();
  let hung = 0;
  side.react = ({ chat_id }) => {
    if (chat_id !== "bad") return 204;
    hung += 1;
    side.happenings.note();
    return hanging.promise;
  };
  await side.happenings.until(() => hung > 0);
  await sayBad();
  await Promise.all([talk(), sayGood()]);
  assertEquals([hung, side.texts("bad").length], [1, 0]);

  // It is not there at all.
  side.react = () => 500;
  hanging.resolve(500);
  await side.goAway();
  await sayBad();
  await talk();
  const away = (await channelStatuses(home)).get("webhook")!;
  assertEquals([away.state, away.restarts], ["running", 0]);
  assertGreater(away.deliveries.waiting, 0);
  const talking = (await channelStatuses(home)).get("talk")!;
  assertEquals(talking.deliveries, {
    waiting: 0,
    retrying: 0,
    sent: 3 * ROUNDS,
    unknown: 0,
    dead: 0,
  });

  // It is back: what waited arrives, once and in order.
  side.react = () => 204;
  side.comeBack();
  await side.taken("bad", expected.length);
  assertEquals(side.texts("bad"), expected);
  assertEquals(textsOf(platform, "c"), others);
  assertEquals(side.texts("good"), Array.from({ length: good }, (_, at) => `re good ${at + 1}`));
  const sent = await outboxOf(home, ["sent"]);
  assert(sent.filter(({ channel }) => channel === "talk").every(({ attempts }) => attempts === 1));
  assertEquals(await outboxOf(home, ["pending", "sending", "unknown", "dead"]), []);
});

Deno.test("(C25) SIGTERM while deliveries wait for another try ends at once, and they are there after the start", async () => {
  await using model = startModelServer({ script: (request) => ({ text: `re ${said(request)}` }) });
  await using side = await WebhookSide.open();
  await using home = await makeHome({
    agent: { model: "local/fake" },
    providers: { local: { baseUrl: model.baseUrl } },
    channels: { webhook: { ...side.section, sendMaxRetries: 100 } },
  });
  {
    await using gateway = await home.start(["gateway", "--json"]);
    await side.connected();
    side.react = () => 500;
    await Promise.all(["a", "b", "c"].map((chat) => side.say({ id: chat, chat, text: chat })));
    // The second refusal of each is followed by a wait of two seconds.
    await side.happenings.until(() => side.requests >= 6);
    const requests = side.requests;
    assertEquals(await gateway.stop(), 0, gateway.log());
    // Nothing was tried once more on the way out, as after a wait that was sat through.
    assertEquals(side.requests, requests);
  }
  side.react = () => 204;
  await using _gateway = await home.start(["gateway", "--json"]);
  await side.happenings.until(() => side.events.length === 3);
  assertEquals(side.events.map(({ text }) => text).sort(), ["re a", "re b", "re c"]);
});
