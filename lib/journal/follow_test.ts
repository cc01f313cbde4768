import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import type { StoredEvent } from "../contract/events.ts";
import { ServiceError } from "../base/errors.ts";
import { createFollowers } from "./follow.ts";
import { openJournal } from "./open.ts";
import { begin, ending, replay, text, withFolder } from "./testing/steps.ts";

const open = () => openJournal({ path: ":memory:" });

/** Counts the listeners of a signal that tells of its own. */
function countingSignal(): { signal: AbortSignal; listeners: () => number; abort: () => void } {
  const controller = new AbortController();
  const { signal } = controller;
  let listeners = 0;
  const { addEventListener, removeEventListener } = signal;
  signal.addEventListener = (...args: Parameters<typeof addEventListener>) => {
    listeners++;
    addEventListener.apply(signal, args);
  };
  signal.removeEventListener = (...args: Parameters<typeof removeEventListener>) => {
    listeners--;
    removeEventListener.apply(signal, args);
  };
  return { signal, listeners: () => listeners, abort: () => controller.abort() };
}

Deno.test("follow() replays, then goes on with what is committed", async () => {
  const journal = open();
  const { sessionId } = await begin(journal, "a");
  const events = journal.follow(sessionId, { afterSeq: 0 })[Symbol.asyncIterator]();
  assertEquals((await events.next()).value?.event.type, "turn_start");
  const next = events.next();
  assertEquals(journal.counts().waitingFollowers, 1);
  await journal.append("a", [text("1"), text("2")]);
  assertEquals((await next).value, { seq: 2, turnId: "a", event: text("1") });
  assertEquals((await events.next()).value, { seq: 3, turnId: "a", event: text("2") });
  await events.return!();
  assertEquals(journal.counts().waitingFollowers, 0);
  await journal.close();
});

Deno.test("follow() shows nothing before its commit", async () => {
  let flush = () => {};
  const journal = openJournal({ path: ":memory:", schedule: (asked) => flush = asked });
  const turn = begin(journal, "a");
  for (let n = 0; n < 30; n++) {
    flush();
    await Promise.resolve();
  }
  const { sessionId } = await turn;
  const appended = journal.append("a", [text("1")]);
  assertEquals(await replay(journal, sessionId, 1), []);
  flush();
  await appended;
  assertEquals((await replay(journal, sessionId, 1)).length, 1);
  await journal.close();
});

Deno.test("follow() starts over for each iteration", async () => {
  const journal = open();
  const { sessionId } = await begin(journal, "a");
  const all = journal.follow(sessionId, { afterSeq: 0, live: false });
  assertEquals(await Array.fromAsync(all), await Array.fromAsync(all));
  await journal.close();
});

Deno.test("follow() ends on its signal, while it waits, while it reads, and before it began", async () => {
  const journal = open();
  const { sessionId } = await begin(journal, "a");
  const { signal, abort, listeners } = countingSignal();
  const waiting = journal.follow(sessionId, { afterSeq: 1, signal })[Symbol.asyncIterator]();
  const reading = journal.follow(sessionId, { afterSeq: 0, signal })[Symbol.asyncIterator]();
  const next = waiting.next();
  await journal.append("a", [text("1")]);
  await next;
  const last = waiting.next();
  await reading.next();
  abort();
  assertEquals(await last, { done: true, value: undefined });
  assertEquals((await reading.next()).done, true);
  assertEquals(await Array.fromAsync(journal.follow(sessionId, { afterSeq: 0, signal })), []);
  assertEquals(listeners(), 0);
  assertEquals(journal.counts().waitingFollowers, 0);
  await journal.close();
});

Deno.test("follow() answers calls of next() that do not wait for each other in order", async () => {
  const journal = open();
  const { sessionId } = await begin(journal, "a");
  const events = journal.follow(sessionId, { afterSeq: 1 })[Symbol.asyncIterator]();
  const nexts = [events.next(), events.next(), events.next()];
  await journal.append("a", [text("1")]);
  await journal.append("a", [text("2"), text("3")]);
  assertEquals((await Promise.all(nexts)).map(({ value }) => value?.seq), [2, 3, 4]);
  await events.return!();
  await journal.close();
});

Deno.test("follow() from beyond the end waits for what comes after it", async () => {
  const journal = open();
  const { sessionId } = await begin(journal, "a");
  const events = journal.follow(sessionId, { afterSeq: 3 })[Symbol.asyncIterator]();
  const next = events.next();
  await journal.append("a", [text("2")]);
  await journal.append("a", [text("3"), text("4"), text("5")]);
  assertEquals((await next).value, { seq: 4, turnId: "a", event: text("4") });
  assertEquals((await events.next()).value?.seq, 5);
  await events.return!();
  await journal.close();
});

Deno.test("follow() refuses a number that is none", () => {
  const journal = open();
  for (const afterSeq of [-1, 0.5, NaN]) {
    assertThrows(() => journal.follow(1, { afterSeq }), ServiceError, `"afterSeq"`);
  }
});

Deno.test("follow() ends when the session is deleted, also for one that looks later", async () => {
  const journal = open();
  const { sessionId } = await begin(journal, "a");
  await journal.end("a", ending());
  const waiting = journal.follow(sessionId, { afterSeq: 2 })[Symbol.asyncIterator]();
  const busy = journal.follow(sessionId, { afterSeq: 0 })[Symbol.asyncIterator]();
  const next = waiting.next();
  await busy.next();
  await journal.deleteSession("test:a");
  assertEquals((await next).done, true);
  // It had read a page; after that there is nothing more, and nothing to wait for.
  await busy.next();
  assertEquals((await busy.next()).done, true);
  assertEquals(await Array.fromAsync(journal.follow(sessionId, { afterSeq: 0 })), []);
  await journal.close();
});

Deno.test("follow() ends when the journal is closed", async () => {
  const journal = open();
  const { sessionId } = await begin(journal, "a");
  const rest = Array.fromAsync(journal.follow(sessionId, { afterSeq: 1 }));
  await journal.close();
  assertEquals(await rest, []);
});

Deno.test("follow() wakes only the readers of the session that changed", async () => {
  const journal = open();
  const a = await begin(journal, "a", { sessionKey: "test:a" });
  const b = await begin(journal, "b", { sessionKey: "test:b" });
  const ofA = journal.follow(a.sessionId, { afterSeq: 1 })[Symbol.asyncIterator]();
  const ofB = journal.follow(b.sessionId, { afterSeq: 1 })[Symbol.asyncIterator]();
  const [nextA, nextB] = [ofA.next(), ofB.next()];
  await journal.append("a", [text("1")]);
  await nextA;
  assertEquals(journal.counts().waitingFollowers, 1);
  await journal.append("b", [text("1")]);
  await nextB;
  assertEquals(journal.counts().waitingFollowers, 0);
  await journal.close();
});

Deno.test("follow() leaves nothing behind of 1,000 readers that stop, in whatever way", async () => {
  const journal = open();
  const { sessionId } = await begin(journal, "a");
  await journal.append("a", [text("1"), text("2")]);
  const { signal, listeners } = countingSignal();
  const pending: Promise<IteratorResult<StoredEvent>>[] = [];
  for (let n = 0; n < 1_000; n++) {
    const events = journal.follow(sessionId, { afterSeq: n % 3, signal })[Symbol.asyncIterator]();
    if (n % 4 === 0) {
      // Dropped without a word after its first event.
      await events.next();
    } else if (n % 4 === 1) {
      for await (const _ of { [Symbol.asyncIterator]: () => events }) break;
    } else {
      // Left while it waits: return() does not wait for the pending next().
      for (let seq = n % 3; seq < 3; seq++) await events.next();
      pending.push(events.next());
      assertEquals((await events.return!()).done, true);
    }
  }
  assertEquals(journal.counts().waitingFollowers, 0);
  assertEquals(listeners(), 0);
  for (const result of await Promise.all(pending)) assertEquals(result.done, true);
  await journal.close();
});

Deno.test("follow() gives 1,000 readers the same events, and lets all of them go", async () => {
  const journal = open();
  const { sessionId } = await begin(journal, "a");
  const { signal, abort, listeners } = countingSignal();
  const counts = Array.from({ length: 1_000 }, async () => {
    let count = 0;
    for await (const { event } of journal.follow(sessionId, { afterSeq: 0, signal })) {
      count++;
      if (event.type === "turn_end") return count;
    }
    return -1;
  });
  for (let n = 0; n < 50; n++) await journal.append("a", [text(`${n}`)]);
  await journal.end("a", ending());
  // turn_start, 50 deltas, the end of their stream, turn_end
  assertEquals(new Set(await Promise.all(counts)), new Set([53]));
  assertEquals(listeners(), 0);
  assertEquals(journal.counts().waitingFollowers, 0);
  abort();
  await journal.close();
});

Deno.test("W13 follow() keeps nothing for a reader that is stuck, and it goes on from the file", () =>
  withFolder(async (folder) => {
    const journal = openJournal({ path: `${folder}/a.db` });
    const { sessionId } = await begin(journal, "a");
    const output = "x".repeat(64 * 1024);
    const stuck = journal.follow(sessionId, { afterSeq: 1 })[Symbol.asyncIterator]();
    const first = stuck.next();
    for (let n = 0; n < 400; n++) {
      await journal.append("a", [{ type: "notice", text: `${n}` + output }]);
    }
    assertEquals((await first).value?.seq, 2);
    // Nobody waits, so of the last 399 nothing was handed to anyone.
    assertEquals(journal.counts().waitingFollowers, 0);
    for (let seq = 3; seq <= 401; seq++) assertEquals((await stuck.next()).value?.seq, seq);
    await stuck.return!();
    await journal.close();
  }));

Deno.test("createFollowers() reads pages as large as its source gives them, one at a time", async () => {
  const reads: number[] = [];
  const followers = createFollowers({
    head: () => 600,
    exists: () => true,
    page(_sessionId, afterSeq) {
      reads.push(afterSeq);
      return Array.from({ length: Math.min(256, 600 - afterSeq) }, (_, n) => {
        const seq = afterSeq + n + 1;
        return [seq, seq, "t", "notice", null, `{"type":"notice","text":"${seq}"}`];
      });
    },
  });
  const events = followers.follow(1, { afterSeq: 0, live: false })[Symbol.asyncIterator]();
  for (let seq = 1; seq <= 256; seq++) assertEquals((await events.next()).value.seq, seq);
  assertEquals(reads, [0]);
  let last = 256;
  for (let result = await events.next(); !result.done; result = await events.next()) {
    last = result.value.seq;
  }
  assertEquals(last, 600);
  assertEquals(reads, [0, 256, 512]);
});

Deno.test("follow() rejects once, and ends, when the record cannot be read", async () => {
  const followers = createFollowers({
    head: () => 2,
    exists: () => true,
    page: () => [[2, 1, "t", "text_delta", '"s"', '"only one"']],
  });
  const events = followers.follow(1, { afterSeq: 0 })[Symbol.asyncIterator]();
  await assertRejects(() => events.next(), Error, "events 1 to 2");
  assert((await events.next()).done);
});
