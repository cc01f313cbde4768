/** What comes while nothing can be stored, as on a full disk, is answered afterwards. */

import { assertEquals } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { channelStatuses } from "../support/outbox_of.ts";
import { PlatformWorld } from "../support/platform_world.ts";
import { testPlatforms } from "../support/platforms.ts";
import { said } from "../support/said.ts";
import { FULL_RUN } from "../support/rounds.ts";

const COUNT = 3;

testPlatforms(
  "a full disk ends no channel of a platform, and loses and doubles no message",
  async () => {
    await using world = await PlatformWorld.open({
      script: (request) => ({ text: `re ${said(request)}` }),
      section: { streaming: false },
    });
    await world.start();
    const cameTo = (name: Parameters<typeof world.textOf>[0]) =>
      [...world.textOf(name).matchAll(/re (t\d)\b/g)].map(([, text]) => text);
    const speak = (text: string) =>
      world.each.map(([name, { deliver, senders: [senderId] }]) =>
        deliver.call(world.platforms[name], { text, senderId, from: "person" })
      );
    await Promise.all(speak("t0"));
    for (const [name] of world.each) {
      await world.until(() => cameTo(name).length > 0, `${name}: t0`);
    }
    const change = (sql: string) => {
      using database = new DatabaseSync(`${world.home.dir}/home/data/service.db`, {
        timeout: 5_000,
      });
      database.exec(sql);
    };
    change(
      `CREATE TRIGGER full BEFORE INSERT ON intake
     BEGIN SELECT RAISE(FAIL, 'database or disk is full'); END`,
    );
    const spoken: Promise<unknown>[] = [];
    for (let at = 1; at <= COUNT; at++) spoken.push(...speak(`t${at}`));
    await world.until(
      () =>
        ["discord", "mattermost"].every((name) =>
          world.gateway.log().split("\n").some((line) =>
            line.includes("disk is full") && line.includes(`channel=${name}`)
          )
        ),
      "the disk is noticed",
    );
    change("DROP TRIGGER full");
    await Promise.all(spoken);
    for (const [name] of world.each) {
      await world.until(
        () => new Set(cameTo(name)).size === COUNT + 1,
        () => `${name}: ${cameTo(name)}`,
      );
    }
    const statuses = await channelStatuses(world.home);
    for (const [name] of world.each) {
      assertEquals(cameTo(name).toSorted(), ["t0", "t1", "t2", "t3"], name);
      assertEquals([statuses.get(name)?.state, statuses.get(name)?.restarts], ["running", 0], name);
    }
    assertEquals(await world.gateway.stop(), 0, world.gateway.log());
  },
  FULL_RUN,
);
