/** A flood in one chat of every platform, whose channel answers another chat meanwhile (C34). */

import { assertEquals } from "@std/assert";
import { outboxOf, turnsOf } from "../support/outbox_of.ts";
import { type PlatformName, PlatformWorld } from "../support/platform_world.ts";
import { testPlatforms } from "../support/platforms.ts";
import { said } from "../support/said.ts";
import { FULL_RUN } from "../support/rounds.ts";

/** Messages that Slack may wait for at once: what is over 256 it gives again, a minute later. */
const AHEAD = 100;

/** Messages of the flood: more than a session holds. */
const COUNT = 300;

const OTHER_ROOM = "!other:example.org";

/** Has somebody write in another chat than that of the flood, where people share one. */
const ELSEWHERE: Partial<Record<PlatformName, (world: PlatformWorld, text: string) => unknown>> = {
  discord: ({ platforms: { discord } }, text) =>
    discord.write(text, { channelId: discord.world.direct.id }),
  matrix: ({ platforms: { matrix } }, text) =>
    matrix.say(text, { roomId: OTHER_ROOM, mentions: [matrix.me] }),
  mattermost: ({ platforms: { mattermost } }, text) =>
    mattermost.write(mattermost.senders[0], text, {}, mattermost.direct),
  whatsapp: ({ platforms: { whatsapp } }, text) =>
    whatsapp.write(whatsapp.senders[0], { conversation: text }, { to: "direct" }),
  signal: ({ platforms: { signal } }, text) => signal.write(signal.senders[1], { message: text }),
};

testPlatforms(
  "(C34) a flood in one chat of every platform holds up no other chat, and all of it is answered once",
  async () => {
    const { promise: isOpen, resolve: open } = Promise.withResolvers<void>();
    await using world = await PlatformWorld.open({
      async script(request) {
        const text = said(request);
        if (text.includes("flood")) await isOpen;
        return { text: `re ${text}` };
      },
      section: { streaming: false },
    });
    // Whatever fails: the model ends when nobody waits for it.
    using _held = { [Symbol.dispose]: open };
    const { matrix } = world.platforms;
    matrix.rooms.create(OTHER_ROOM, [matrix.senders[0], matrix.me]);
    await world.start();
    const numbers = (name: PlatformName, word: string) =>
      [...world.textOf(name).matchAll(new RegExp(`re ${word}(\\d+)\\b`, "g"))]
        .map(([, number]) => Number(number));
    const expected = Array.from({ length: COUNT }, (_, at) => at);

    await Promise.all(world.each.map(async ([name, platform]) => {
      const [flooder, other] = platform.senders;
      for (const at of expected) {
        await platform.deliver({ text: `flood${at}`, senderId: flooder, from: "person" });
        if (name === "slack") {
          await world.until(() => platform.acknowledged!().length > at - AHEAD, `${name}: ${at}`);
        }
      }
      for (let at = 0; at < 3; at++) {
        const text = `other${at}`;
        if (name in ELSEWHERE) await ELSEWHERE[name]!(world, text);
        else await platform.deliver({ text, senderId: other, from: "person" });
        await world.until(
          () => numbers(name, "other").length > at,
          () => `${name}: ${text}: ${world.textOf(name)}`,
        );
      }
      assertEquals(numbers(name, "flood"), [], name);
    }));
    open();
    await world.until(
      () => world.each.every(([name]) => numbers(name, "flood").length >= COUNT),
      () => world.each.map(([name]) => `${name} ${numbers(name, "flood").length}`).join(", "),
    );

    const turns = await turnsOf(world.home);
    for (const [name] of world.each) {
      assertEquals(numbers(name, "flood"), expected, name);
      assertEquals(numbers(name, "other"), [0, 1, 2], name);
      const own = [...turns].filter(([key]) => key.startsWith(`${name}:`));
      assertEquals(own.map(([, count]) => count).sort((a, b) => a - b), [3, COUNT], name);
    }
    assertEquals(await outboxOf(world.home, ["pending", "sending", "dead", "unknown"]), []);
    assertEquals(await world.gateway.stop(), 0, world.gateway.log());
  },
  FULL_RUN,
);
