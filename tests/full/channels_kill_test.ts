/** kill -9 while three channels take messages in and send answers out (W1, W2). */

import { assert, assertEquals, assertGreater } from "@std/assert";
import { LinePlatform } from "../../lib/delivery/manager/testing/line_platform.ts";
import { startModelServer } from "../fakes/model_server.ts";
import { Happenings } from "../support/happenings.ts";
import { makeHome } from "../support/home.ts";
import { channelStatuses, outboxOf, turnsOf } from "../support/outbox_of.ts";
import { said } from "../support/said.ts";
import { talkSection, testProject } from "../support/talk_channels.ts";
import { WebhookSide } from "../support/webhook_side.ts";
import { rounds } from "../support/rounds.ts";

const CHATS = ["c0", "c1", "c2"];

/** Of each channel. */
const COUNT = rounds(70, 20);

/** How often it is killed at most, and after how many things that happen at the platforms. */
const KILLS = rounds(7, 3);
const MAX_BETWEEN = rounds(90, 40);

/** Which of two channels of lines may be sent a message twice. */
const CAREFUL = "talk";
const REPEATABLE = "repeatable";

Deno.test("kill -9 at random instants of deliveries on three channels: nothing accepted is lost, and what came twice is known", async () => {
  await using project = await testProject();
  await using model = startModelServer({ script: (request) => ({ text: `re ${said(request)}` }) });
  const happenings = new Happenings();
  await using side = await WebhookSide.open(happenings);
  await using careful = new LinePlatform();
  await using repeatable = new LinePlatform();
  await using home = await makeHome({
    agent: { model: "local/fake" },
    providers: { local: { baseUrl: model.baseUrl } },
    channels: {
      webhook: side.section,
      [CAREFUL]: talkSection(careful),
      [REPEATABLE]: talkSection(repeatable),
    },
  }, project.root);

  const came = (): Record<string, { id: string; chat: string; content: string }[]> => ({
    webhook: side.events.map(({ id, chat_id: chat, text: content }) => ({ id, chat, content })),
    [CAREFUL]: careful.given,
    [REPEATABLE]: repeatable.given,
  });
  const names = Object.keys(came());

  // What is said is said again until it is taken: a few at a time, so that kills meet all of it.
  let spoken = 0;
  const taken = new Set<string>();
  const speak = () => {
    const answered = Math.min(
      ...Object.values(came()).map((all) => new Set(all.map((a) => a.content)).size),
    );
    while (spoken < COUNT && spoken < answered + 12) {
      const message = { id: `m${spoken}`, chat: CHATS[spoken % CHATS.length]!, text: `t${spoken}` };
      spoken += 1;
      for (const platform of [careful, repeatable]) platform.say(message);
      void Promise.all([1, 2, 3].map(() => side.say(message))).then(() => {
        taken.add(message.id);
        happenings.note();
      });
    }
  };
  careful.onLine = repeatable.onLine = () => happenings.note();

  /** Texts that nobody knows of whether they have arrived; as of the last start. */
  const unsure: Record<string, Set<string>> = Object.fromEntries(
    names.map((name) => [name, new Set<string>()]),
  );
  const isDone = (name: string) =>
    new Set([...came()[name]!.map(({ content }) => content), ...unsure[name]!]).size >= COUNT;
  const allDone = () =>
    names.every(isDone) && taken.size === COUNT &&
    careful.acked === COUNT && repeatable.acked === COUNT;

  let kills = 0;
  for (;;) {
    const gateway = await home.start(["gateway", "--json"]);
    try {
      // Nothing but a death makes something unsure, so this is the whole of it until the next.
      for (const { channel, text } of await outboxOf(home, ["unknown"])) {
        unsure[channel]!.add(text);
      }
      const until = happenings.count + Math.ceil(Math.random() * MAX_BETWEEN);
      await happenings.until(() => {
        speak();
        return allDone() || (kills < KILLS && happenings.count >= until);
      });
      if (!allDone()) {
        kills += 1;
        await gateway.kill();
        continue;
      }
      assertEquals(await outboxOf(home, ["pending", "sending", "dead", "expired"]), []);
      const left = await outboxOf(home, ["unknown"]);
      const statuses = await channelStatuses(home);
      const turns = await turnsOf(home);
      for (const name of names) {
        const own = left.filter(({ channel }) => channel === name);
        assertEquals(statuses.get(name)!.deliveries.unknown, own.length, name);
        // One turn each, though all was said three times and again after each death.
        const counts = CHATS.map((chat) => turns.get(`${name}:${chat}`) ?? 0);
        assertEquals(counts.reduce((sum, count) => sum + count), COUNT, `${name}: ${counts}`);
        const all = came()[name]!;
        const byText = Map.groupBy(all, ({ content }) => content);
        for (const [content, times] of byText) {
          if (times.length === 1) continue;
          if (name === CAREFUL) {
            // One that came twice would have been sent again by itself.
            assert(own.some(({ text }) => text === content), `${content} came twice to ${name}`);
          } else assertEquals(new Set(times.map(({ id }) => id)).size, 1, `${content}: other ids`);
        }
        // Those that may be repeated leave nobody in doubt.
        if (name !== CAREFUL) assertEquals(own.map(({ text }) => text), [], name);
        for (let at = 0; at < COUNT; at++) {
          const content = `re t${at}`;
          const isKnown = byText.has(content) || own.some(({ text }) => text === content);
          assert(isKnown, `${content} is lost on ${name}`);
        }
        for (const chat of CHATS) {
          const order = all.filter((each) => each.chat === chat)
            .map(({ content }) => Number(content.slice(4)));
          if (name === CAREFUL) assertEquals(order, order.toSorted((a, b) => a - b), name);
        }
      }
      assertGreater(kills, KILLS / 2);
      assertEquals(await gateway.stop(), 0, gateway.log());
      return;
    } finally {
      await gateway[Symbol.asyncDispose]();
    }
  }
});
