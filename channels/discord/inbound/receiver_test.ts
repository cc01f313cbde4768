import { assertEquals } from "@std/assert";
import type { GatewayDispatchPayload } from "discord.js";
import { fakeClock } from "../../../lib/agent/testing/fake_clock.ts";
import { Bookmark } from "../gateway/bookmark.ts";
import { FakeWorld } from "../testing/fake_world.ts";
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
    catchUp: () => Promise.resolve(),
    onForeign: () => {},
    sleep: () => Promise.resolve(),
    clock: fakeClock(),
    log: { warning: () => {} },
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
    catchUp: () => Promise.resolve(ending.abort()),
  });
  await handle("READY", ready, 1);
  assertEquals([written, bookmark.session], [[], undefined]);
});
