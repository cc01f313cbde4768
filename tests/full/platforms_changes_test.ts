/** Channels of every platform that are switched off and on and changed while people write to them. */

import { assert, assertEquals } from "@std/assert";
import { editSection } from "../support/edit_section.ts";
import { channelStatuses, outboxOf, turnsOf } from "../support/outbox_of.ts";
import { PlatformWorld } from "../support/platform_world.ts";
import { testPlatforms } from "../support/platforms.ts";
import { said } from "../support/said.ts";
import { rounds } from "../support/rounds.ts";

const ROUNDS = rounds(6, 2);

testPlatforms(
  "(C35) (W1) (W2) channels of platforms that are switched off, on and changed again and again lose and double nothing",
  async () => {
    await using world = await PlatformWorld.open({
      script: (request) => ({ text: `re ${said(request)}` }),
      section: { streaming: false },
    });
    await world.start();
    const { home } = world;
    let sent = 0;
    /** What a platform can tell nobody, since its channel has just been switched off, it tells later. */
    const telling: Promise<unknown>[] = [];
    const speak = () => {
      const at = sent++;
      telling.push(
        ...world.each.map(([name, platform]) =>
          platform.deliver.call(world.platforms[name], {
            text: `t${at}`,
            senderId: platform.senders[0],
            from: "person",
          })
        ),
      );
    };
    for (let round = 0; round < ROUNDS; round++) {
      speak();
      for (const [at, [name]] of world.each.entries()) {
        await editSection(home, name, (section) => ({
          ...section,
          // One half is switched off and on by turns, the other half changed.
          ...(at + round) % 2 === 0
            ? { enabled: section["enabled"] !== true }
            : { language: round % 2 === 0 ? "de" : "es" },
        }));
      }
      speak();
    }
    for (const [name] of world.each) {
      await editSection(home, name, (section) => ({ ...section, enabled: true }));
    }
    speak();
    await Promise.all(telling);
    const numbers = (text: string) =>
      [...text.matchAll(/re t(\d+)\b/g)].map(([, at]) => Number(at));
    const cameTo = (name: Parameters<typeof world.textOf>[0]) => numbers(world.textOf(name));
    for (const [name] of world.each) {
      await world.until(() => new Set(cameTo(name)).size === sent, () => {
        const came = new Set(cameTo(name));
        const missing = Array.from({ length: sent }, (_, at) => at).filter((at) => !came.has(at));
        return `${name} lacks ${missing}`;
      });
    }
    const turns = await turnsOf(home);
    assertEquals(await outboxOf(home, ["pending", "sending", "dead"]), []);
    const unknown = await outboxOf(home, ["unknown"]);
    const statuses = await channelStatuses(home);
    for (const [name] of world.each) {
      const own = [...turns].filter(([key]) => key.startsWith(`${name}:`));
      assertEquals(own.reduce((sum, [, count]) => sum + count, 0), sent, `${name}: turns`);
      assertEquals(statuses.get(name)?.state, "running", name);
      for (const [at, { length }] of Map.groupBy(cameTo(name), (number) => number)) {
        const isKnown = unknown.some((row) => row.channel === name && row.text === `re t${at}`);
        assert(length === 1 || isKnown, `${name}: answer ${at} came ${length} times`);
      }
    }
    assertEquals(await world.gateway.stop(), 0, world.gateway.log());
    assertEquals(world.gateway.log().includes("nobody noticed"), false, world.gateway.log());
  },
);
