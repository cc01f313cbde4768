import { assertEquals } from "@std/assert";
import type { GatewayDispatchPayload } from "discord.js";
import { fakeClock } from "../../../lib/agent/testing/fake_clock.ts";
import { Bookmark } from "../gateway/bookmark.ts";
import { FakeWorld, snowflake } from "../testing/fake_world.ts";
import { Receiver, type ReceiverDeps } from "./receiver.ts";

/** A receiver, and what its intake was given. */
function setting(more: Partial<ReceiverDeps> = {}) {
  const world = new FakeWorld();
  const written: { entries: number; session: unknown }[] = [];
  const bookmark = new Bookmark("key");
  const ending = new AbortController();
  const receiver = new Receiver({
    bookmark,
    intake: {
      add: (entries, cursors) => {
        const { session } = JSON.parse(cursors!.session!);
        return Promise.resolve(void written.push({ entries: entries.length, session }));
      },
    },
    respond: "all",
    isOwnThread: () => false,
    isAllowed: () => true,
    isOwnNonce: () => true,
    onConnected: () => {},
    api: { messagesAfter: () => Promise.resolve([]) },
    onForeign: () => {},
    clock: fakeClock(),
    log: { info: () => {}, warning: () => {} },
    signal: ending.signal,
    ...more,
  });
  const handle = (t: string, d: unknown, s: number) =>
    receiver.handle({ payload: { op: 0, t, d, s } as GatewayDispatchPayload });
  const ready = {
    user: world.bot,
    session_id: "session",
    resume_gateway_url: "wss://x.discord.gg",
  };
  return { world, written, bookmark, ending, receiver, handle, ready };
}

Deno.test("Receiver writes no number down before the message that it stands for", async () => {
  const room = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  const disk: number[] = [];
  const { world, handle, ready, receiver } = setting({
    intake: {
      add: async (entries, cursors) => {
        if (entries.length > 0) {
          asked.resolve();
          await room.promise;
        }
        disk.push(JSON.parse(cursors!.session!).session?.sequence);
      },
    },
  });
  await handle("READY", ready, 1);
  const taken = handle("MESSAGE_CREATE", world.add(world.general.id, world.alice, "hello"), 2);
  await asked.promise;
  // As when its time has come, or the channel ends.
  await receiver.flush();
  assertEquals(disk, [1]);
  room.resolve();
  await taken;
  await receiver.flush();
  assertEquals(disk, [1, 2, 2]);
});

Deno.test("Receiver keeps no session whose former messages were not looked for to the end", async () => {
  const ending = new AbortController();
  const { written, handle, ready, bookmark } = setting({
    signal: ending.signal,
    api: {
      messagesAfter: () => {
        ending.abort();
        return Promise.resolve([]);
      },
    },
  });
  bookmark.see({ channelId: snowflake(), lastId: snowflake() }, true);
  await handle("READY", ready, 1);
  assertEquals([written, bookmark.session], [[], undefined]);
});

Deno.test("Receiver keeps where a channel was left until what follows was looked for, by this process or the next", async () => {
  const clock = fakeClock();
  const asked: string[] = [];
  const written: Record<string, string>[] = [];
  const missed = Promise.withResolvers<void>();
  let isAway = true;
  const more: Partial<ReceiverDeps> = {
    clock,
    intake: { add: (_, cursors) => Promise.resolve(void written.push({ ...cursors })) },
    api: {
      messagesAfter: (_, after) => {
        asked.push(after);
        if (isAway) return Promise.reject(new Error("Internal Server Error"));
        missed.resolve();
        return Promise.resolve([]);
      },
    },
  };
  const first = setting(more);
  const { world, bookmark, handle, ready } = first;
  const channelId = world.general.id;
  const say = () => world.add(channelId, world.alice, "hello");
  const lastId = snowflake();
  bookmark.see({ channelId, lastId }, true);
  const isReady = handle("READY", ready, 1);
  while (asked.length < 4) {
    clock.tick(1_000);
    await new Promise((again) => setTimeout(again, 0));
  }
  await isReady;
  await handle("MESSAGE_CREATE", say(), 2);
  assertEquals(bookmark.channels(), [{ channelId, lastId }]);
  await first.receiver.close();
  isAway = false;
  const kept = new Bookmark("key", written.at(-1));
  const next = setting({ ...more, bookmark: kept });
  // Resumed: Discord gives again what came since, and not what was missed before.
  await next.handle("MESSAGE_CREATE", say(), 3);
  await next.handle("RESUMED", {}, 4);
  assertEquals(kept.channels().map(({ lastId }) => lastId), [lastId]);
  clock.tick(20_000);
  await missed.promise;
  await next.receiver.close();
  assertEquals(new Set(asked), new Set([lastId]));
});
