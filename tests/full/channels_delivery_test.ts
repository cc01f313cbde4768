/** Channels over a gateway: messages that come more than once, and answers that outlive it. */

import { assert, assertEquals, assertLess } from "@std/assert";
import { LinePlatform } from "../../lib/delivery/manager/testing/line_platform.ts";
import { startModelServer } from "../fakes/model_server.ts";
import { makeHome } from "../support/home.ts";
import { outboxOf, turnsOf } from "../support/outbox_of.ts";
import { said } from "../support/said.ts";
import { happeningsOf, talkSection, testProject, textsOf } from "../support/talk_channels.ts";
import { WebhookSide } from "../support/webhook_side.ts";

let project: Awaited<ReturnType<typeof testProject>>;

Deno.test.beforeAll(async () => {
  project = await testProject();
});

Deno.test.afterAll(async () => await project[Symbol.asyncDispose]());

function configOf(model: { baseUrl: string }, channels: object) {
  return {
    agent: { model: "local/fake" },
    providers: { local: { baseUrl: model.baseUrl } },
    channels,
  };
}

Deno.test("(W1) an answer that dies with the process before its delivery is delivered after the restart, once", async () => {
  await using model = startModelServer({ script: (request) => ({ text: `re ${said(request)}` }) });
  await using side = await WebhookSide.open();
  await using platform = new LinePlatform();
  const lines = happeningsOf(platform);
  await using home = await makeHome(
    configOf(model, { webhook: side.section, talk: talkSection(platform) }),
    project.root,
  );
  {
    await using gateway = await home.start(["gateway", "--json"]);
    // One platform is away, one has the answer when the process dies, one never saw a try.
    await side.connected();
    await side.goAway();
    await side.say({ id: "a1", chat: "a", text: "one" });
    platform.isSilent = true;
    platform.say({ id: "t1", chat: "c", text: "two" });
    platform.say({ id: "t2", chat: "c", text: "three" });
    await lines.until(() => platform.given.length === 1 && platform.acked === 2);
    await model.request(2).then(({ closed }) => closed);
    await gateway.kill();
  }
  side.comeBack();
  platform.isSilent = false;
  await using gateway = await home.start(["gateway", "--json"]);
  await Promise.all([
    side.taken("a", 1),
    lines.until(() => textsOf(platform, "c").includes("re three")),
  ]);
  assertEquals(side.texts("a"), ["re one"]);
  // What the platform had in its hand may have arrived, and is not sent again.
  assertEquals(textsOf(platform, "c"), ["re two", "re three"]);
  const unsure = await outboxOf(home, ["unknown"]);
  assertEquals(unsure.map(({ channel, text }) => [channel, text]), [["talk", "re two"]]);
  assertEquals(await outboxOf(home, ["pending", "sending", "dead"]), []);
  assertEquals(await gateway.stop(), 0, gateway.log());
});

Deno.test("(W2) a platform that delivers everything three times gets one turn each, also after restarts", async () => {
  await using model = startModelServer({ script: (request) => ({ text: `re ${said(request)}` }) });
  await using side = await WebhookSide.open();
  await using platform = new LinePlatform();
  const lines = happeningsOf(platform);
  await using home = await makeHome(
    configOf(model, { webhook: side.section, talk: talkSection(platform) }),
    project.root,
  );
  const numbers = Array.from({ length: 10 }, (_, at) => at);
  const messages = numbers.map((at) => ({ id: `m${at}`, chat: `c${at % 2}`, text: `text ${at}` }));
  const thrice = async () => {
    const replies = await Promise.all(
      messages.map((message) => Promise.all([1, 2, 3].map(() => side.say(message)))),
    );
    return replies.map((three) => three.map(({ body }) => body));
  };
  const turns = new Map<string, string>();
  for (const end of ["kill", "stop", "kill"] as const) {
    await using gateway = await home.start(["gateway", "--json"]);
    const isFirst = turns.size === 0;
    for (const [at, three] of (await thrice()).entries()) {
      const { id } = messages[at]!;
      if (isFirst) turns.set(id, three[0].turn_id);
      assertEquals(three.map(({ turn_id }) => turn_id), [1, 2, 3].map(() => turns.get(id)));
      assertEquals(three.filter(({ repeated }) => !repeated).length, isFirst ? 1 : 0);
    }
    if (isFirst) {
      for (const message of messages) platform.say({ ...message, text: `line ${message.id}` });
    }
    await Promise.all([
      side.taken("c0", 5),
      side.taken("c1", 5),
      lines.until(() => platform.given.length >= messages.length && platform.acked === 10),
    ]);
    // Whoever has not heard that it was taken says it again, and to the next process too.
    for (const message of messages) platform.say({ ...message, text: `line ${message.id}` });
    await gateway[end]();
  }
  await using _gateway = await home.start(["gateway", "--json"]);
  await thrice();
  // What would come now comes behind this.
  await side.say({ id: "last", chat: "c0", text: "last" });
  platform.say({ id: "last", chat: "c0", text: "last" });
  await Promise.all([
    side.happenings.until(() => side.texts("c0").includes("re last")),
    lines.until(() => textsOf(platform, "c0").includes("re last")),
  ]);
  for (const name of ["webhook", "talk"]) {
    const counts = await turnsOf(home);
    assertEquals([counts.get(`${name}:c0`), counts.get(`${name}:c1`)], [6, 5], name);
  }
  assertEquals(model.requests.length, 22);
  const expected = (chat: string, word: string) =>
    messages.filter((each) => each.chat === chat).map(({ id, text }) =>
      `re ${word === "line" ? `line ${id}` : text}`
    );
  // Which of three at once comes first decides the order.
  const sorted = (texts: string[]) => [...new Set(texts)].sort();
  assertEquals(sorted(side.texts("c1")), sorted(expected("c1", "text")));
  // One whose sending a kill cut off is sent again, under the same id.
  const ids = side.events.filter(({ chat_id }) => chat_id === "c1").map(({ id }) => id);
  assertEquals(new Set(ids).size, 5);
  assertEquals(textsOf(platform, "c1").sort(), expected("c1", "line").sort());
});

Deno.test("(C26) (C27) (C28) deltas come together, in their stream, once, and never again as a message", async () => {
  const words = Array.from({ length: 60 }, (_, at) => `w${at} `);
  await using model = startModelServer({
    script: (request) => ({ text: words.map((word) => `${said(request)}:${word}`), delayMs: 2 }),
  });
  await using side = await WebhookSide.open();
  await using home = await makeHome(
    configOf(model, { webhook: { ...side.section, streaming: true } }),
  );
  await using gateway = await home.start(["gateway", "--json"]);
  await side.connected();
  // Each chat's first piece is on its way as long as the model speaks, its second is refused once.
  const seen = new Map<string, number>();
  const spoken = Promise.all([model.request(0), model.request(1)])
    .then((all) => Promise.all(all.map(({ closed }) => closed)));
  side.react = async ({ chat_id, type }) => {
    assertEquals(type, "delta");
    const count = (seen.get(chat_id) ?? 0) + 1;
    seen.set(chat_id, count);
    if (count === 1) await spoken;
    return count === 2 ? 500 : 204;
  };
  for (const chat of ["x", "y"]) await side.say({ id: chat, chat, text: chat });
  const piecesOf = (chat: string) => side.events.filter(({ chat_id }) => chat_id === chat);
  await side.happenings.until(() =>
    ["x", "y"].every((chat) => piecesOf(chat).some(({ end }) => end))
  );
  for (const chat of ["x", "y"]) {
    const pieces = piecesOf(chat);
    assertLess(pieces.length, 6, `${words.length} deltas came as ${pieces.length} calls`);
    assertEquals(new Set(pieces.map(({ stream_id }) => stream_id)).size, 1);
    assertEquals(
      pieces.map(({ text }) => text).join(""),
      words.map((w) => `${chat}:${w}`).join(""),
    );
    let offset = 0;
    for (const piece of pieces) {
      assertEquals(piece.offset, offset);
      offset += piece.text.length;
    }
    assertEquals(pieces.map(({ end }) => end), pieces.map((_, at) => at === pieces.length - 1));
  }

  // A turn that is cancelled closes its stream too.
  side.react = () => 204;
  const from = side.events.length;
  await side.say({ id: "x2", chat: "x", text: "long" });
  await side.happenings.until(() => side.events.length > from);
  await side.say({ id: "x3", chat: "x", text: "/stop" });
  await side.happenings.until(() =>
    piecesOf("x").slice(-1)[0]!.end === true && side.events.length > from
  );
  const cut = side.events.slice(from).filter(({ type }) => type === "delta");
  assertEquals(new Set(cut.map(({ stream_id }) => stream_id)).size, 1);
  assertEquals(cut.filter(({ end }) => end).length, 1);
  assert(words.map((word) => `long:${word}`).join("").startsWith(cut.map((e) => e.text).join("")));
  assertEquals(side.texts("y"), []);
  assertEquals(await gateway.stop(), 0, gateway.log());
});

Deno.test("a webhook's receiver that fails more often than sendMaxRetries gets its answers once it works; one that is gone for good does not", async () => {
  await using model = startModelServer({ script: (request) => ({ text: `re ${said(request)}` }) });
  await using side = await WebhookSide.open();
  await using home = await makeHome({
    agent: { model: "local/fake" },
    providers: { local: { baseUrl: model.baseUrl } },
    channels: { webhook: { ...side.section, sendMaxRetries: 1 } },
  });
  const answers: Record<string, number[]> = { broken: [500, 404], gone: [410] };
  side.react = ({ chat_id }) => answers[chat_id]!.shift() ?? 204;
  await using gateway = await home.start(["gateway", "--json"]);
  await side.connected();
  for (const chat of ["broken", "gone"]) await side.say({ id: chat, chat, text: chat });
  await side.say({ id: "next", chat: "broken", text: "next" });
  await side.taken("broken", 1);
  assertEquals(side.texts("broken")[0], "re broken");
  const dead = await outboxOf(home, ["dead"]);
  assertEquals(dead.map(({ text }) => text), ["re gone"]);
  assertEquals(await gateway.stop(), 0, gateway.log());
});
