import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import type { StoredEvent } from "../contract/events.ts";
import { ServiceError } from "../base/errors.ts";
import { openJournal } from "./open.ts";
import { begin, ending, newTurn, text } from "./testing/steps.ts";
import type { Journal } from "../contract/journal.ts";

/** The first `count` events of a follower. */
async function take(events: AsyncIterable<StoredEvent>, count: number): Promise<StoredEvent[]> {
  const taken: StoredEvent[] = [];
  for await (const event of events) if (taken.push(event) === count) break;
  return taken;
}

const MAKERS: Record<string, (journal: Journal) => Promise<unknown>> = {
  accept: async (journal) => {
    await begin(journal, "t", { sessionKey: "websocket:a" });
  },
  setModelPreset: (journal) => journal.setModelPreset("websocket:a", "fast"),
  say: (journal) => journal.say({ id: "m", sessionKey: "websocket:a", text: "hi" }),
  forkSession: async (journal) => {
    await journal.accept(newTurn("source", { sessionKey: "websocket:b" }));
    const fork = { sourceKey: "websocket:b", targetKey: "websocket:a", beforeUserIndex: 0 };
    await journal.forkSession(fork);
    await journal.renameSession("websocket:a", "A fork");
  },
};

for (const [name, make] of Object.entries(MAKERS)) {
  Deno.test(`followKey() waits for a session, which ${name} makes, and misses none of it`, async () => {
    const journal = openJournal({ path: ":memory:" });
    const waiting = [1, 2].map(() => take(journal.followKey("websocket:a", { afterSeq: 0 }), 1));
    assertEquals(journal.counts().waitingFollowers, 2);
    await make(journal);
    const late = take(journal.followKey("websocket:a", { afterSeq: 0 }), 1);
    const [a, b, c] = await Promise.all([...waiting, late]);
    assertEquals(a!.map(({ seq }) => seq), [1]);
    assertEquals(b, a);
    assertEquals(c, a);
    assertEquals(journal.counts().waitingFollowers, 0);
    await journal.close();
  });
}

Deno.test("followKey() shows followers the same events whenever they came", async () => {
  const journal = openJournal({ path: ":memory:" });
  const key = "websocket:a";
  const total = 9;
  const followers = [take(journal.followKey(key, { afterSeq: 0 }), total)];
  const turn = await begin(journal, "t1", { sessionKey: key });
  followers.push(take(journal.followKey(key, { afterSeq: 0 }), total));
  await journal.append("t1", [text("a"), text("b")]);
  followers.push(take(journal.followKey(key, { afterSeq: 0 }), total));
  await journal.say({ id: "m", sessionKey: key, text: "meanwhile" });
  await journal.append("t1", [text("c"), { type: "segment_end", streamId: "s", resuming: false }]);
  followers.push(take(journal.followKey(key, { afterSeq: 0 }), total));
  await journal.end("t1", ending());
  await journal.renameSession(key, "A chat");
  await journal.say({ id: "n", sessionKey: key, text: "after it" });
  followers.push(take(journal.followKey(key, { afterSeq: 0 }), total));
  const [first, ...others] = await Promise.all(followers);
  assertEquals(first!.map(({ seq }) => seq), [1, 2, 3, 4, 5, 6, 7, 8, 9]);
  assertEquals(first!.map(({ event }) => event.type), [
    "turn_start",
    "text_delta",
    "text_delta",
    "message",
    "text_delta",
    "segment_end",
    "turn_end",
    "session_updated",
    "message",
  ]);
  for (const other of others) assertEquals(other, first);
  // What was said meanwhile stands behind the answer that it came into.
  assertEquals(
    journal.context(turn.sessionId).map(({ message }) =>
      message.role === "assistant" ? message.text : message.role
    ),
    ["user", "abc", "meanwhile", "after it"],
  );
  await journal.close();
});

Deno.test("followKey() hands those that wait the very same objects", async () => {
  const journal = openJournal({ path: ":memory:" });
  await begin(journal, "t", { sessionKey: "websocket:a" });
  const readers = [1, 2].map(() =>
    journal.followKey("websocket:a", { afterSeq: 1 })[Symbol.asyncIterator]().next()
  );
  await journal.append("t", [text("a")]);
  const [a, b] = await Promise.all(readers);
  assertEquals(a!.value === b!.value && a!.value !== undefined, true);
  await journal.close();
});

Deno.test("followKey() ends on its signal, with the session and with the journal", async () => {
  const journal = openJournal({ path: ":memory:" });
  const stop = new AbortController();
  const ends = [
    Array.fromAsync(journal.followKey("websocket:none", { afterSeq: 0, signal: stop.signal })),
    Array.fromAsync(journal.followKey("websocket:none", { afterSeq: 0 })),
  ];
  stop.abort();
  assertEquals(await ends[0], []);
  assertEquals(journal.counts().waitingFollowers, 1);
  const left = journal.followKey("websocket:none", { afterSeq: 0 })[Symbol.asyncIterator]();
  const next = left.next();
  await left.return!();
  assertEquals(await next, { done: true, value: undefined });

  await journal.say({ id: "m", sessionKey: "websocket:a", text: "hi" });
  const events = Array.fromAsync(journal.followKey("websocket:a", { afterSeq: 0 }));
  await journal.deleteSession("websocket:a");
  await events;
  // One that comes after the deletion waits for the next session of that key.
  const again = take(journal.followKey("websocket:a", { afterSeq: 0 }), 1);
  await journal.say({ id: "n", sessionKey: "websocket:a", text: "anew" });
  assertEquals(await again, [{ seq: 1, turnId: "", event: { type: "message", text: "anew" } }]);

  await journal.close();
  assertEquals(await ends[1], []);
  assertEquals(await Array.fromAsync(journal.followKey("websocket:x", { afterSeq: 0 })), []);
});

Deno.test("followKey() goes on waiting for a session whose batch was undone", async () => {
  let calls = -Infinity;
  const journal = openJournal({
    path: ":memory:",
    now: () => {
      if (++calls > 2) throw new Error("no time");
      return 1_000;
    },
  });
  const seen = take(journal.followKey("websocket:a", { afterSeq: 0 }), 1);
  calls = 0;
  // The session is there by then, and goes again.
  await assertRejects(
    () => journal.say({ id: "m", sessionKey: "websocket:a", text: "lost" }),
    Error,
    "no time",
  );
  calls = -Infinity;
  assertEquals(journal.session("websocket:a"), undefined);
  assertEquals(journal.counts().waitingFollowers, 1);
  assertEquals(await journal.say({ id: "m", sessionKey: "websocket:a", text: "said" }), true);
  assertEquals((await seen).map(({ event }) => event), [{ type: "message", text: "said" }]);
  assertThrows(() => journal.followKey("websocket:a", { afterSeq: -1 }), ServiceError);
  await journal.close();
});

Deno.test("followKey() ends at once by return(), before and after its session is there, and is forgotten", async () => {
  const journal = openJournal({ path: ":memory:" });
  for (
    const make of [() => Promise.resolve(), () => journal.setModelPreset("websocket:a", "fast")]
  ) {
    await make();
    const { seq } = journal.session("websocket:a") === undefined ? { seq: 0 } : { seq: 1 };
    const follow = journal.followKey("websocket:a", { afterSeq: seq });
    const events = follow[Symbol.asyncIterator]();
    const next = events.next();
    assertEquals(journal.counts().waitingFollowers, 1);
    await follow.return();
    assertEquals((await next).done, true);
    assertEquals((await events.next()).done, true);
    assertEquals(journal.counts().waitingFollowers, 0);
  }
  await journal.close();
});

for (const [name, make] of Object.entries(MAKERS)) {
  Deno.test(`whenMade() calls when ${name} makes the session, in time to see what all others see`, async () => {
    const journal = openJournal({ path: ":memory:" });
    const key = "websocket:a";
    const others = take(journal.followKey(key, { afterSeq: 0 }), 1);
    const mine = Promise.withResolvers<StoredEvent[]>();
    let calls = 0;
    const call = () => {
      calls++;
      mine.resolve(take(journal.followKey(key, { afterSeq: 0 }), 1));
    };
    const other = { calls: 0 };
    journal.whenMade(key, call);
    const given = journal.whenMade(key, () => other.calls++);
    assertEquals(journal.counts().waitingFollowers, 3);
    given!.return();
    await make(journal);
    assertEquals(await mine.promise, await others);
    assertEquals(journal.whenMade(key, call), undefined);
    assertEquals([calls, other.calls], [1, 0]);
    assertEquals(journal.counts().waitingFollowers, 0);
    assert(journal.whenMade("websocket:never", call) !== undefined);
    await journal.close();
    assertEquals(calls, 1);
  });
}
