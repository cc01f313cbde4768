import { assertEquals } from "@std/assert";
import type { APIMessage } from "discord.js";
import { fakeClock } from "../../../lib/agent/testing/fake_clock.ts";
import { NotConnectedError, RetryLaterError } from "../../../lib/channel/delivery_error.ts";
import { catchUp, type CatchUpDeps } from "./catch_up.ts";

/** Channels of so many messages each, whose ids count up. */
function deps(sizes: Record<string, number>, more: Partial<CatchUpDeps> = {}) {
  const taken: Record<string, number> = {};
  const asked: string[] = [];
  const warnings: string[] = [];
  const ends: string[] = [];
  const clock = fakeClock();
  const all: CatchUpDeps = {
    channels: Object.keys(sizes).map((channelId) => ({ channelId, lastId: "0" })),
    messagesAfter: (channelId, after) => {
      asked.push(`${channelId} ${after}`);
      const left = sizes[channelId]! - Number(after);
      return Promise.resolve(
        Array.from(
          { length: Math.min(100, left) },
          (_, at) => ({ id: String(Number(after) + at + 1) }) as APIMessage,
        ),
      );
    },
    take: ({ channelId }, messages) => {
      taken[channelId] = (taken[channelId] ?? 0) + messages.length;
      return Promise.resolve();
    },
    forget: () => {},
    done: (channelId, lastId) => void ends.push(`done ${channelId} ${lastId}`),
    owe: (channelId) => void ends.push(`owe ${channelId}`),
    sleep: (ms) => {
      clock.tick(ms);
      return Promise.resolve();
    },
    clock,
    log: { info: () => {}, warning: (message) => void warnings.push(message) },
    signal: new AbortController().signal,
    ...more,
  };
  return { all, taken, asked, warnings, ends };
}

Deno.test("catchUp() reads page by page, as far as there are messages", async () => {
  const { all, taken, asked, warnings } = deps({ a: 250, b: 0, c: 100 });
  await catchUp(all);
  assertEquals(taken, { a: 250, c: 100 });
  assertEquals(asked, ["a 0", "a 100", "a 200", "b 0", "c 0", "c 100"]);
  assertEquals(warnings, []);
});

Deno.test("catchUp() reads 500 messages of a channel, and says that there are more", async () => {
  const { all, taken, warnings } = deps({ a: 5_000, b: 3 });
  await catchUp(all);
  assertEquals(taken, { a: 500, b: 3 });
  assertEquals(warnings.length, 1);
});

Deno.test("catchUp() comes again when it may, and not behind two minutes in all", async () => {
  for (const error of [new RetryLaterError("later", 40_000), new NotConnectedError("away")]) {
    let asked = 0;
    const { all, warnings } = deps({ a: 1, b: 1 }, {
      messagesAfter: () => {
        asked += 1;
        return Promise.reject(error);
      },
    });
    await catchUp(all);
    assertEquals(asked < 70, true);
    assertEquals(warnings.length > 0, true);
  }
});

Deno.test("catchUp() ends when the channel stops", async () => {
  const ending = new AbortController();
  const { all, asked } = deps({ a: 300, b: 300 }, {
    signal: ending.signal,
    take: () => {
      ending.abort();
      return Promise.reject(ending.signal.reason);
    },
  });
  await catchUp(all);
  assertEquals(asked.length, 1);
});

Deno.test("catchUp() asks again where Discord has no answer, and leaves a channel that never has one", async () => {
  let asked = 0;
  const found = [{ id: "1" } as APIMessage];
  const { all, taken, warnings, ends } = deps({ a: 1, b: 1 }, {
    messagesAfter: (channelId) => {
      if (channelId === "b") return Promise.reject(new Error("Internal Server Error"));
      asked += 1;
      return asked < 3 ? Promise.reject(new Error("Bad Gateway")) : Promise.resolve(found);
    },
  });
  await catchUp(all);
  assertEquals([asked, taken, warnings.length], [3, { a: 1 }, 1]);
  assertEquals(ends, ["done a 1", "owe b"]);
});
