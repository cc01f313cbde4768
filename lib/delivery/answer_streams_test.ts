import { assert, assertEquals, assertLess } from "@std/assert";
import fc from "fast-check";
import { openJournal } from "../journal/open.ts";
import { crashCopy, withFolder } from "../journal/testing/steps.ts";
import {
  PermanentDeliveryError,
  RetryLaterError,
  UncertainDeliveryError,
} from "../channel/delivery_error.ts";
import { DeliveryWorld, segment, settled } from "./testing/delivery_world.ts";
import { type FakeCall, type FakeLink, lineOf } from "./testing/fake_link.ts";
import { rounds } from "../../tests/support/rounds.ts";

const STREAMS = { supportsStreaming: true };

const text = (streamId: string, text: string) => ({ type: "text_delta" as const, streamId, text });

/** Text of a stream as it arrived. */
function streamed(calls: readonly FakeCall[], streamId: string): string {
  return calls.map((call) =>
    call.member === "sendDelta" && call.piece.streamId === streamId ? call.piece.delta : ""
  ).join("");
}

/** Holds up the first call of a link until it is let go. */
function holdFirst(link: FakeLink): () => void {
  const first = Promise.withResolvers<void>();
  link.answer = () => link.calls.length === 1 ? first.promise : undefined;
  return first.resolve;
}

Deno.test("ten queued deltas arrive as fewer calls with the same text, the end last (C26)", async () => {
  await using world = new DeliveryWorld();
  const { link } = world.attach("irc", STREAMS);
  const letGo = holdFirst(link);
  await world.begin("t1", { streaming: true });
  for (let n = 0; n < 10; n++) {
    await world.say("t1", text("s", `${n} `));
    await settled(3);
  }
  assertEquals(world.deliveries.counts("irc").waiting, 1);
  letGo();
  await world.say("t1", { type: "segment_end", streamId: "s", resuming: false });
  await world.end("t1");
  await settled();
  assertEquals(streamed(link.arrived, "s"), "0 1 2 3 4 5 6 7 8 9 ");
  assertEquals(link.lines.slice(0, 1), ["s 0 "]);
  assertLess(link.calls.length, 5);
  assertEquals(link.lines.slice(-2).map((line) => line.slice(-5)), [
    link.lines.at(-2)!.slice(-5),
    " done",
  ]);
  assert(link.lines.at(-2)!.endsWith("|"));
  assertEquals(world.deliveries.counts("irc").waiting, 0);
});

Deno.test("a stream that a link still has a piece of goes on as a message over the link that came meanwhile", async () => {
  await using world = new DeliveryWorld();
  const first = world.attach("irc", STREAMS);
  const letGo = holdFirst(first.link);
  await world.begin("t1", { streaming: true });
  await world.say("t1", text("s", "one "));
  await settled();
  const detached = first.detach();
  const { link } = world.attach("irc", STREAMS);
  letGo();
  await detached;
  await world.say("t1", text("s", "two"));
  await world.say("t1", { type: "segment_end", streamId: "s", resuming: false });
  await world.end("t1");
  await settled();
  assertEquals([first.link.lines, link.texts()], [["s one "], ["two"]]);
  assertEquals(world.journal.deliveries.turns(0, 1), []);
});

Deno.test("a streamed turn is not delivered again through send, nor after a restart (C28)", () =>
  withFolder(async (folder) => {
    const path = `${folder}/a.db`;
    const world = new DeliveryWorld({ path });
    const { link } = world.attach("irc", STREAMS);
    await world.begin("t1", { streaming: true });
    await world.say("t1", ...segment("s1", ["I look."], true));
    await settled();
    await world.say("t1", ...segment("s2", ["The ", "answer."]));
    await settled();
    crashCopy(path, `${folder}/b.db`);
    await world.end("t1");
    await settled();
    assertEquals(link.lines, ["s1 I look.| resuming", "s2 The answer.|", "turn_end done"]);
    assertEquals(world.rows, []);
    await world[Symbol.asyncDispose]();

    const next = new DeliveryWorld({ path: `${folder}/b.db`, clock: world.clock });
    const again = next.attach("irc", STREAMS).link;
    await next.end("t1");
    await settled();
    assertEquals(again.lines, ["turn_end done"]);
    assertEquals(next.rows, []);
    await next[Symbol.asyncDispose]();
  }));

Deno.test("two streams never mix, of two sessions in one chat and of two chats (C26)", async () => {
  await using world = new DeliveryWorld();
  const { link } = world.attach("irc", STREAMS);
  link.answer = () => settled(1);
  const turns = ["t1", "t2", "t3"];
  for (const [at, turn] of turns.entries()) {
    await world.begin(turn, {
      streaming: true,
      sessionKey: `irc:${turn}`,
      chatId: at === 2 ? "#b" : "#a",
    });
  }
  const expected = new Map(turns.map((turn) => [turn, ""]));
  for (let n = 0; n < 60; n++) {
    const turn = turns[n % 3]!;
    expected.set(turn, expected.get(turn)! + `${turn}-${n} `);
    await world.say(turn, text(`s-${turn}`, `${turn}-${n} `));
  }
  for (const turn of turns) {
    await world.say(turn, { type: "segment_end", streamId: `s-${turn}`, resuming: false });
    await world.end(turn);
  }
  await settled(200);
  for (const turn of turns) {
    const calls = link.arrived.filter((call) =>
      call.member === "sendDelta" && call.piece.streamId === `s-${turn}`
    );
    assertEquals(streamed(calls, `s-${turn}`), expected.get(turn));
    assertEquals(
      calls.map((call) => call.member === "sendDelta" && call.piece.streamEnd),
      [...calls.slice(1).map(() => false), true],
    );
  }
});

Deno.test("a retried delta does not repeat text that arrived, and brings what came since (C27)", async () => {
  await using world = new DeliveryWorld();
  const { link } = world.attach("irc", STREAMS);
  let failing = false;
  link.answer = () => {
    if (failing) throw new Error("no connection");
  };
  await world.begin("t1", { streaming: true });
  await world.say("t1", text("s", "one "));
  await settled();
  failing = true;
  await world.say("t1", text("s", "two "));
  await settled();
  await world.say("t1", text("s", "three"));
  failing = false;
  world.clock.tick(1_000);
  await settled();
  await world.say("t1", { type: "segment_end", streamId: "s", resuming: false });
  await world.end("t1");
  await settled();
  assertEquals(link.calls.map(lineOf), [
    "s one ",
    "s two ",
    "s two three",
    "s |",
    "turn_end done",
  ]);
  assertEquals(link.lines, ["s one ", "s two three", "s |", "turn_end done"]);
});

Deno.test("a stream that is refused is put on record as dead, and the turn goes on", async () => {
  for (const permanent of [true, false]) {
    await using world = new DeliveryWorld();
    const { link } = world.attach("irc", STREAMS);
    let failing = false;
    link.answer = () => {
      if (failing) throw permanent ? new PermanentDeliveryError("no") : new Error("no");
    };
    await world.begin("t1", { streaming: true });
    await world.say("t1", text("s1", "arrived "));
    await settled();
    failing = true;
    await world.say("t1", text("s1", "lost"));
    for (let n = 0; n < 10; n++) {
      await settled();
      world.clock.tick(1_000);
    }
    assertEquals(link.calls.length, permanent ? 2 : 4);
    failing = false;
    await world.say("t1", { type: "segment_end", streamId: "s1", resuming: true });
    await world.say("t1", ...segment("s2", ["next"]));
    await world.end("t1");
    await settled();
    assertEquals(world.rows, ["dead lost"]);
    assertEquals(link.lines, ["s1 arrived ", "s2 next|", "turn_end done"]);
  }
});

Deno.test("a stream waits as long as the platform says", async () => {
  await using world = new DeliveryWorld();
  const { link } = world.attach("irc", STREAMS);
  let waits = 5;
  link.answer = () => {
    if (waits-- > 0) throw new RetryLaterError("slow down", 30_000);
  };
  await world.begin("t1", { streaming: true });
  await world.say("t1", ...segment("s", ["a", "b"]));
  await world.end("t1");
  // What comes for the chat meanwhile does not make it hurry.
  await world.enqueue(["later"]);
  await settled();
  const before = link.calls.length;
  world.clock.tick(29_000);
  await world.enqueue(["later"]);
  await settled();
  assertEquals(link.calls.length, before);
  for (let n = 0; n < 10; n++) {
    world.clock.tick(30_000);
    await settled();
  }
  assertEquals(streamed(link.arrived, "s"), "ab");
  assertEquals(world.rows, ["sent later", "sent later"]);
  assertEquals(world.deliveries.counts("irc").sent, 3);
});

Deno.test("a platform that always says later is believed for a day", async () => {
  await using world = new DeliveryWorld();
  const { link } = world.attach("irc", STREAMS);
  link.answer = () => {
    throw new RetryLaterError("slow down", 6 * 3_600_000);
  };
  await world.begin("t1", { streaming: true });
  await world.say("t1", ...segment("s", ["answer"]));
  await world.end("t1");
  for (let n = 0; n < 8; n++) {
    await settled();
    world.clock.tick(6 * 3_600_000);
  }
  await settled();
  const calls = link.calls.filter(({ member }) => member === "sendDelta");
  assertEquals([calls.length, world.rows], [5, ["dead answer"]]);
});

Deno.test("what was in flight of a stream when its worker was lost is unknown, the rest a message of its own", async () => {
  await using world = new DeliveryWorld();
  const { link, detach } = world.attach("irc", STREAMS);
  await world.begin("t1", { streaming: true });
  await world.say("t1", text("s", "one "));
  await settled();
  const gone = Promise.withResolvers<void>();
  link.answer = () => gone.promise;
  await world.say("t1", text("s", "two "));
  await settled();
  await world.say("t1", text("s", "three "));
  gone.reject(new UncertainDeliveryError("the worker is gone"));
  await detach();
  const next = world.attach("irc", STREAMS).link;
  await world.say("t1", text("s", "four"));
  await settled();
  await world.say("t1", { type: "segment_end", streamId: "s", resuming: false });
  await world.end("t1");
  await settled();
  assertEquals(link.lines, ["s one "]);
  assertEquals(next.lines, ["send three four", "turn_end done"]);
  assertEquals(world.rows, ["unknown two ", "sent three four"]);
  assertEquals(world.deliveries.counts("irc").unknown, 1);
});

Deno.test("after a crash in a stream its call under way is unknown, and the rest a message (W1)", () =>
  withFolder(async (folder) => {
    const path = `${folder}/a.db`;
    const world = new DeliveryWorld({ path });
    const { link } = world.attach("irc", STREAMS);
    await world.begin("t1", { streaming: true });
    await world.say("t1", text("s", "one "));
    await settled();
    const held = Promise.withResolvers<void>();
    link.answer = () => held.promise;
    await world.say("t1", text("s", "two "));
    await settled();
    await world.say("t1", text("s", "three"));
    await world.say("t1", { type: "notice", text: "shown before the crash" });
    crashCopy(path, `${folder}/b.db`);
    held.resolve();
    await world[Symbol.asyncDispose]();

    const journal = openJournal({ path: `${folder}/b.db`, now: () => world.clock.now() });
    assertEquals((await journal.recover()).resume.map(({ id }) => id), ["t1"]);
    const next = new DeliveryWorld({ journal, clock: world.clock });
    const again = next.attach("irc", STREAMS).link;
    await settled();
    // The turn is run again.
    await journal.start("t1");
    await next.say("t1", ...segment("s'", ["All ", "anew."]));
    await next.end("t1");
    await settled();
    assertEquals(again.lines, ["send three", "s' All anew.|", "turn_end done"]);
    assertEquals(next.rows, ["unknown two ", "sent three"]);
    assertEquals(next.deliveries.counts("irc"), {
      waiting: 0,
      retrying: 0,
      sent: 2,
      unknown: 1,
      dead: 0,
    });
    assertEquals(next.journal.deliveries.turns(0, 9), []);
    await next[Symbol.asyncDispose]();
  }));

Deno.test("after a crash the answer that was not handed over is, and one that was is not again (W1)", () =>
  withFolder(async (folder) => {
    const path = `${folder}/a.db`;
    const world = new DeliveryWorld({ path });
    await world.begin("t1");
    await world.say("t1", ...segment("s1", ["I look."], true), ...segment("s2", ["first"]));
    await world.end("t1");
    await settled();
    await world.begin("t2");
    await world.deliveries.stop(0);
    await world.say("t2", ...segment("s3", ["second"]));
    await world.end("t2");
    crashCopy(path, `${folder}/b.db`);
    await world.journal.close();

    const journal = openJournal({ path: `${folder}/b.db`, now: () => world.clock.now() });
    await journal.recover();
    assertEquals(journal.deliveries.turns(0, 9).map(({ turnId }) => turnId), ["t2"]);
    const next = new DeliveryWorld({ journal, clock: world.clock });
    const { link } = next.attach();
    await settled();
    assertEquals(link.texts(), ["first", "second"]);
    assertEquals(next.rows, ["sent first", "sent second"]);
    await next[Symbol.asyncDispose]();
  }));

Deno.test("a stream of which nothing was sent is a message when its link goes", async () => {
  await using world = new DeliveryWorld();
  const { link, detach } = world.attach("irc", STREAMS);
  link.isRunning = false;
  await world.begin("t1", { streaming: true });
  await world.say("t1", ...segment("s1", ["I look."], true), ...segment("s2", ["answer"]));
  await world.end("t1");
  await settled();
  await detach();
  await settled();
  assertEquals(world.rows, ["pending answer"]);
  const next = world.attach("irc").link;
  await settled();
  assertEquals(next.lines, ["send answer"]);
});

Deno.test("half a character waits for its other half", async () => {
  await using world = new DeliveryWorld();
  const { link } = world.attach("irc", STREAMS);
  await world.begin("t1", { streaming: true });
  await world.say("t1", text("s", "a\ud83d"));
  await settled();
  await world.say("t1", text("s", "\ude00b\ud83d"));
  await settled();
  await world.say("t1", { type: "segment_end", streamId: "s", resuming: false });
  await world.end("t1");
  await settled();
  assertEquals(link.lines, ["s a", "s \ud83d\ude00b", "s \ud83d|", "turn_end done"]);
});

Deno.test("a stream that nobody takes stops the reading, not the turn, and is whole at the end", async () => {
  await using world = new DeliveryWorld();
  const { link } = world.attach("irc", STREAMS);
  const letGo = holdFirst(link);
  await world.begin("t1", { streaming: true });
  const piece = "x".repeat(16_000);
  for (let n = 0; n < 100; n++) {
    await world.say("t1", text("s", piece));
    await settled(1);
  }
  await world.say("t1", { type: "segment_end", streamId: "s", resuming: false });
  await world.end("t1");
  await settled();
  letGo();
  await settled(400);
  assertEquals(streamed(link.arrived, "s").length, 1_600_000);
  for (const call of link.calls) {
    if (call.member === "sendDelta") assertLess(call.piece.delta.length, 300_000);
  }
  assertEquals(link.lines.at(-1), "turn_end done");
});

Deno.test("a deleted session ends what was to be said of it, and leaves its messages", async () => {
  await using world = new DeliveryWorld();
  await world.begin("t1");
  await world.say("t1", ...segment("s", ["kept"]));
  await world.end("t1");
  await settled();
  await world.journal.deleteSession("irc:a");
  await settled();
  const { link } = world.attach();
  await settled();
  assertEquals(link.lines, ["send kept"]);
  assertEquals([world.journal.deliveries.turns(0, 9), world.errors], [[], []]);
});

Deno.test("answers of turns that wait in one session come each to its chat, in order", async () => {
  await using world = new DeliveryWorld();
  const { link } = world.attach();
  for (let n = 0; n < 5; n++) {
    await world.journal.accept({
      id: `t${n}`,
      sessionKey: "irc:a",
      channel: "irc",
      actor: "irc:someone",
      input: [{ type: "text", text: "hello" }],
      durable: true,
    }, {
      delivery: {
        runtimeName: "irc",
        chatId: `#${n % 2}`,
        metadata: {},
        streaming: false,
      },
    });
    world.deliveries.follow(`t${n}`);
  }
  for (let n = 0; n < 5; n++) {
    await world.journal.start(`t${n}`);
    await world.say(`t${n}`, ...segment(`s${n}`, [`answer ${n}`]));
    await world.end(`t${n}`);
  }
  await settled();
  assertEquals([link.texts("#0"), link.texts("#1")], [
    ["answer 0", "answer 2", "answer 4"],
    ["answer 1", "answer 3"],
  ]);
});

Deno.test("whatever is said, fails and is lost: each text arrives once, in order, or is on record", async () => {
  const action = fc.oneof(
    { weight: 6, arbitrary: fc.constant("say" as const) },
    { weight: 1, arbitrary: fc.constant("end segment" as const) },
    { weight: 2, arbitrary: fc.constant("time" as const) },
    { weight: 1, arbitrary: fc.constant("replace" as const) },
    { weight: 1, arbitrary: fc.constant("enqueue" as const) },
  );
  const fate = fc.constantFrom("ok", "ok", "ok", "fails", "later", "uncertain", "permanent");
  await fc.assert(
    fc.asyncProperty(
      fc.array(action, { maxLength: 40 }),
      fc.array(fate, { maxLength: 30 }),
      fc.boolean(),
      async (actions, fates, streaming) => {
        await using world = new DeliveryWorld();
        const links: FakeLink[] = [];
        let remaining = [...fates];
        const attach = () => {
          const attached = world.attach("irc", { supportsStreaming: true });
          links.push(attached.link);
          attached.link.answer = (call) => {
            if (call.member === "send" && call.message.event !== undefined) return;
            switch (remaining.shift()) {
              case "fails":
                throw new Error("no");
              case "later":
                throw new RetryLaterError("slow down", 500);
              case "uncertain":
                throw new UncertainDeliveryError("gone");
              case "permanent":
                throw new PermanentDeliveryError("never");
            }
          };
          return attached.detach;
        };
        let detach = attach();
        await world.begin("t1", { streaming });
        const said: string[] = [];
        let segments = 0;
        let isOpen = false;
        for (const [at, one] of actions.entries()) {
          const word = `<${at}>`;
          if (one === "say") {
            said.push(word);
            await world.say("t1", text(`s${segments}`, word));
            isOpen = true;
          } else if (one === "end segment" && isOpen) {
            await world.say("t1", {
              type: "segment_end",
              streamId: `s${segments++}`,
              resuming: false,
            });
            isOpen = false;
          } else if (one === "time") {
            world.clock.tick(700);
          } else if (one === "replace") {
            await detach();
            detach = attach();
          } else if (one === "enqueue") {
            said.push(word);
            await world.enqueue([word]);
          }
          await settled(4);
        }
        remaining = [];
        await world.end("t1");
        for (let n = 0; n < 60; n++) {
          await settled(6);
          world.clock.tick(1_000);
        }
        await settled();
        const words = (content: string) => content.match(/<\d+>/g) ?? [];
        const arrived = links.flatMap(({ arrived }) => arrived).flatMap((call) =>
          call.member === "sendDelta"
            ? words(call.piece.delta)
            : call.member === "send"
            ? words(call.message.content)
            : []
        );
        const rows = world.journal.outbox(0, 1_000);
        const undelivered = rows.filter(({ state }) => state === "unknown" || state === "dead")
          .flatMap(({ content }) => words(content));
        assertEquals(rows.filter(({ state }) => state === "pending" || state === "sending"), []);
        assertEquals([...arrived, ...undelivered].sort(), [...said].sort());
        assertEquals(world.journal.deliveries.turns(0, 9), []);
        assertEquals(world.errors, []);
        assertEquals(world.deliveries.counts("irc").waiting, 0);
        await detach();
      },
    ),
    { numRuns: rounds(150) },
  );
});
