import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import fc from "fast-check";
import type { Settlement } from "../contract/delivery_store.ts";
import { ServiceError } from "../base/errors.ts";
import { openJournal } from "./open.ts";
import { assertRows } from "./testing/assert_rows.ts";
import { begin, crashCopy, ending, newTurn, requestKey, withFolder } from "./testing/steps.ts";
import type { Journal, OutboxMessage, OutboxRow, TurnDelivery } from "../contract/journal.ts";
import { rounds } from "../../tests/support/rounds.ts";

const DAY_MS = 24 * 60 * 60 * 1_000;

const DELIVERY: TurnDelivery = {
  runtimeName: "irc.b",
  chatId: "#a",
  metadata: { message_id: "7", half: "\ud83d" },
  streaming: true,
};

function message(id: string, changes: Partial<OutboxMessage> = {}): OutboxMessage {
  return { id, channel: "irc", chatId: "#a", content: id, ...changes };
}

async function claimed(journal: Journal, chatId = "#a"): Promise<OutboxRow | undefined> {
  const claim = await journal.deliveries.claim("irc", chatId);
  return claim !== undefined && "row" in claim ? claim.row : undefined;
}

Deno.test("accept() notes where the answer goes with the turn's row, or neither", () =>
  withFolder(async (folder) => {
    const path = `${folder}/a.db`;
    const journal = openJournal({ path });
    await begin(journal, "before");
    const key = requestKey("m");
    const { turn } = await journal.accept(newTurn("a"), { delivery: DELIVERY, requestKey: key });
    const again = { ...DELIVERY, chatId: "#b" };
    await journal.accept(newTurn("again"), { delivery: again, requestKey: key });
    await journal.accept(newTurn("other"));
    const expected = [{ ...DELIVERY, rowid: turn.rowid, turnId: "a", sessionId: 1, seq: 1 }];
    assertEquals(journal.deliveries.turns(0, 9), expected);
    crashCopy(path, `${folder}/b.db`);
    const copy = openJournal({ path: `${folder}/b.db` });
    assertEquals(copy.deliveries.turn("a"), expected[0]);
    assertEquals([copy.deliveries.turn("other"), copy.deliveries.turns(turn.rowid, 9)], [
      undefined,
      [],
    ]);
    await copy.close();
    for (
      const [name, delivery] of [
        ["runtimeName", { ...DELIVERY, runtimeName: "" }],
        ["chatId", { ...DELIVERY, chatId: "a\0" }],
        ["metadata", { ...DELIVERY, metadata: { a: "x".repeat(70_000) } }],
      ] as const
    ) {
      const error = await assertRejects(
        () => journal.accept(newTurn("wrong"), { delivery }),
        ServiceError,
      );
      assertEquals([error.code, error.details.param], ["invalid_request", name]);
    }
    assertEquals(journal.turn("wrong"), undefined);
    // What a turn waits behind is not its own: its events come after it was begun.
    await journal.end("before", ending());
    await journal.start("a");
    assertEquals(journal.deliveries.turn("a")?.seq, 2);
    await journal.close();
  }));

Deno.test("move() moves a turn on together with its messages, and once", () =>
  withFolder(async (folder) => {
    const path = `${folder}/a.db`;
    const journal = openJournal({ path });
    const { turn: { rowid } } = await journal.accept(newTurn("a"), { delivery: DELIVERY });
    const { deliveries } = journal;
    const stream = { streamId: "s\ud83d", acked: 3, sending: 9 };
    const add = [
      { message: message("m1") },
      { message: message("m2"), state: "unknown" as const, error: "cut\0", isPiece: true },
      { message: message("m3"), expiresAt: Date.now() + 1_000 },
    ];
    assertEquals(await deliveries.move(rowid, { seq: 5, stream, add }), true);
    // What a crash cut off is done again, and adds nothing twice.
    assertEquals(await deliveries.move(rowid, { seq: 5, add, withdraw: ["m3", "m2"] }), true);
    crashCopy(path, `${folder}/b.db`);
    const copy = openJournal({ path: `${folder}/b.db` });
    const { seq, stream: read } = copy.deliveries.turn("a")!;
    assertEquals([seq, read], [5, stream]);
    assertEquals(
      copy.outbox(0, 9).map(({ id, state, error, isPiece }) => [id, state, error, isPiece]),
      [
        ["m1", "pending", undefined, undefined],
        ["m2", "unknown", "cut ", true],
        ["m3", "expired", undefined, undefined],
      ],
    );
    assert(copy.outbox(0, 9)[2]!.expiresAt <= Date.now());
    await copy.close();
    assertEquals(await deliveries.move(rowid, { stream: null }, "normal"), true);
    assertEquals(deliveries.turn("a")?.stream, undefined);
    assertEquals(
      await deliveries.move(rowid, { add: [{ message: message("m4") }], done: true }),
      true,
    );
    assertEquals(await deliveries.move(rowid, { add: [{ message: message("m5") }] }), false);
    assertEquals(journal.outbox(3, 9).map(({ id }) => id), ["m4"]);
    assertEquals(deliveries.turns(0, 9), []);
    await journal.close();
    assertRows(path);
  }));

Deno.test("move() does nothing for a session that was deleted, and its messages stay", async () => {
  const journal = openJournal({ path: ":memory:" });
  await begin(journal, "a");
  const { turn: { rowid } } = await journal.accept(newTurn("b"), { delivery: DELIVERY });
  await journal.deliveries.move(rowid, { add: [{ message: message("m1") }] });
  for (const id of ["a", "b"]) await journal.end(id, ending());
  await journal.deleteSession("test:a");
  assertEquals(await journal.deliveries.move(rowid, { add: [{ message: message("m2") }] }), false);
  assertEquals(journal.outbox(0, 9).map(({ id }) => id), ["m1"]);
  await journal.close();
});

Deno.test("claim() counts the attempt before it is made; after a crash the message is unknown (W1)", () =>
  withFolder(async (folder) => {
    const path = `${folder}/a.db`;
    const journal = openJournal({ path });
    await journal.enqueue(message("a"));
    await journal.enqueue(message("b"));
    assertEquals((await claimed(journal))?.attempts, 1);
    crashCopy(path, `${folder}/b.db`);
    // One at a time of a chat.
    assertEquals(await claimed(journal), undefined);
    await journal.close();

    const after = openJournal({ path: `${folder}/b.db` });
    await after.recover();
    const [row] = after.outbox(0, 1);
    assertEquals([row!.state, row!.attempts], ["unknown", 1]);
    assert(row!.error!.includes("stopped"));
    assertEquals(after.deliveries.counts("irc"), { waiting: 1, unknown: 1, dead: 0 });
    assertEquals((await claimed(after))?.id, "b");
    await after.recover();
    // A channel that can tell a repeat gets both again, and no piece of a stream.
    const { turn: { rowid } } = await after.accept(newTurn("t"), { delivery: DELIVERY });
    const piece = { message: message("p"), state: "unknown" as const, isPiece: true };
    await after.deliveries.move(rowid, { add: [piece] });
    assertEquals(await after.deliveries.retryUnknown("irc"), 2);
    assertEquals(after.outbox(0, 9).map(({ state }) => state), ["pending", "pending", "unknown"]);
    assertEquals((await claimed(after))?.id, "a");
    await after.close();
    assertRows(`${folder}/b.db`);
  }));

Deno.test("undecided messages stay for 30 days, and can be decided about until then", async () => {
  let now = 1_000;
  const journal = openJournal({ path: ":memory:", now: () => now });
  for (const [id, state] of [["a", "unknown"], ["b", "dead"], ["c", "dead"]] as const) {
    await journal.enqueue(message(id));
    await journal.deliveries.settle((await claimed(journal))!.rowid, { state, error: "no" });
  }
  now += 30 * DAY_MS - 1;
  await journal.deliveries.tidy();
  assertEquals((await journal.deliveries.resend(1)).state, "pending");
  assertEquals((await journal.deliveries.drop(2)).state, "expired");
  now += 2_000;
  await journal.deliveries.tidy();
  await journal.deliveries.tidy();
  assertEquals(journal.outbox(0, 9).map(({ id, state }) => [id, state]), [["a", "pending"]]);
  // What was given up stays no longer than anything else that has expired.
  now += DAY_MS;
  await journal.deliveries.tidy();
  assertEquals(journal.outbox(0, 9).map(({ state }) => state), ["expired"]);
  await journal.close();
});

Deno.test("chats() finds the chats with messages that wait, page by page", async () => {
  const journal = openJournal({ path: ":memory:" });
  const ids = Array.from({ length: 50 }, (_, n) => `m${n}`);
  await Promise.all(ids.map((id, n) => journal.enqueue(message(id, { chatId: `#${n % 7}` }))));
  await journal.enqueue(message("other", { channel: "irc.b", chatId: "#z" }));
  assertEquals(journal.deliveries.chats("irc", "", 4), ["#0", "#1", "#2", "#3"]);
  assertEquals(journal.deliveries.chats("irc", "#3", 4), ["#4", "#5", "#6"]);
  assertEquals(journal.deliveries.chats("irc.b", "", 4), ["#z"]);
  assertEquals(journal.deliveries.chats("none", "", 4), []);
  assertThrows(() => journal.deliveries.chats("irc", "", 0), ServiceError, `"limit"`);
  await journal.close();
});

Deno.test("enqueue() keeps what belongs to a message, and refuses what is too much", async () => {
  const journal = openJournal({ path: ":memory:" });
  const whole = message("a", {
    media: [{ name: "a", path: "/data/a.png" }, { name: "b", path: "/data/half \ud83d" }],
    metadata: { message_id: "7", nested: { list: [1, null, "\0"] } },
    event: { type: "progress", toolHint: true },
  });
  await journal.enqueue(whole);
  await journal.enqueue(message("b", { media: [], metadata: {} }));
  const [a, b] = journal.outbox(0, 9);
  assertEquals([a!.media, a!.metadata, a!.event], [whole.media, whole.metadata, whole.event]);
  assertEquals([b!.media, b!.metadata, b!.event], [undefined, {}, undefined]);
  for (
    const [name, wrong] of [
      ["media", message("c", { media: Array(65).fill("/a") })],
      ["metadata", message("c", { metadata: { a: "x".repeat(70_000) } })],
    ] as const
  ) {
    const error = await assertRejects(() => journal.enqueue(wrong), ServiceError);
    assertEquals([error.code, error.details.param], ["invalid_request", name]);
  }
  await journal.close();
});

/** What the outbox is to be like, in the fewest words. */
class Reference {
  rows: {
    id: string;
    chat: string;
    state: OutboxRow["state"];
    tries: number;
    notBefore: number;
  }[] = [];

  head(chat: string) {
    return this.rows.find((row) =>
      row.chat === chat && (row.state === "pending" || row.state === "sending")
    );
  }

  get lines(): string[] {
    return this.rows.map(({ id, state, tries }) => `${id} ${state} ${tries}`);
  }

  counts() {
    const count = (...states: OutboxRow["state"][]) =>
      this.rows.filter(({ state }) => states.includes(state)).length;
    return {
      waiting: count("pending", "sending"),
      unknown: count("unknown"),
      dead: count("dead"),
    };
  }
}

Deno.test("the lanes of the outbox are what a list would be, whatever is done and wherever it crashes", async () => {
  const chat = fc.constantFrom("#a", "#b");
  const command = fc.oneof(
    fc.record({ do: fc.constant("enqueue" as const), chat }),
    fc.record({ do: fc.constant("claim" as const), chat }),
    fc.record({
      do: fc.constant("settle" as const),
      chat,
      as: fc.constantFrom("sent", "unknown", "dead", "again", "later"),
    }),
    fc.record({ do: fc.constant("decide" as const), nth: fc.nat(20), drop: fc.boolean() }),
    fc.record({ do: fc.constant("time" as const), ms: fc.constantFrom(500, 5_000) }),
    fc.record({ do: fc.constant("crash" as const) }),
    fc.record({ do: fc.constant("retry" as const) }),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(command, { maxLength: 60 }),
      (commands) =>
        withFolder(async (folder) => {
          let now = 1_000_000;
          let path = `${folder}/0.db`;
          let journal = openJournal({ path, now: () => now });
          const reference = new Reference();
          for (const [at, one] of commands.entries()) {
            switch (one.do) {
              case "enqueue":
                await journal.enqueue(message(`m${at}`, { chatId: one.chat }));
                reference.rows.push({
                  id: `m${at}`,
                  chat: one.chat,
                  state: "pending",
                  tries: 0,
                  notBefore: 0,
                });
                break;
              case "claim": {
                const row = await claimed(journal, one.chat);
                const head = reference.head(one.chat);
                const isFree = head?.state === "pending" && head.notBefore <= now;
                assertEquals(row?.id, isFree ? head.id : undefined);
                if (isFree) {
                  head.state = "sending";
                  head.tries++;
                }
                break;
              }
              case "settle": {
                const head = reference.head(one.chat);
                if (head?.state !== "sending") break;
                const { rowid } = journal.outbox(0, 1_000).find(({ id }) => id === head.id)!;
                const isAgain = one.as === "again" || one.as === "later";
                const settlement: Settlement = isAgain
                  ? {
                    state: "pending",
                    error: "no",
                    notBefore: now + 1_000,
                    counts: one.as === "again",
                  }
                  : one.as === "sent"
                  ? { state: "sent" }
                  : { state: one.as as "dead" | "unknown", error: "no" };
                await journal.deliveries.settle(rowid, settlement);
                // A second word about it changes nothing.
                await journal.deliveries.settle(rowid, { state: "dead", error: "late" });
                head.state = settlement.state;
                if (isAgain) head.notBefore = now + 1_000;
                if (one.as === "later") head.tries--;
                break;
              }
              case "decide": {
                const row = reference.rows[one.nth];
                const { deliveries } = journal;
                const decided = await (one.drop ? deliveries.drop : deliveries.resend)(one.nth + 1)
                  .catch((error: ServiceError) => error.code);
                const may = row !== undefined && row.state !== "sent" && row.state !== "sending";
                assertEquals(
                  typeof decided === "string" ? decided : decided.state,
                  row === undefined
                    ? "not_found"
                    : !may
                    ? "invalid_request"
                    : one.drop
                    ? "expired"
                    : "pending",
                );
                if (!may) break;
                row.state = one.drop ? "expired" : "pending";
                if (!one.drop) row.tries = row.notBefore = 0;
                break;
              }
              case "time":
                now += one.ms;
                break;
              case "retry":
                await journal.deliveries.retryUnknown("irc");
                for (const row of reference.rows) {
                  if (row.state !== "unknown") continue;
                  row.state = "pending";
                  row.notBefore = 0;
                }
                break;
              case "crash":
                crashCopy(path, path = `${folder}/${at + 1}.db`);
                await journal.close();
                journal = openJournal({ path, now: () => now });
                await journal.recover();
                for (const row of reference.rows) {
                  if (row.state === "sending") row.state = "unknown";
                }
            }
            const lines = journal.outbox(0, 1_000).map(({ id, state, attempts }) =>
              `${id} ${state} ${attempts}`
            );
            assertEquals(lines, reference.lines);
            assertEquals(journal.deliveries.counts("irc"), reference.counts());
            assertEquals(journal.counts().outbox, reference.counts().waiting);
          }
          await journal.close();
          assertRows(path);
        }),
    ),
    { numRuns: rounds(40) },
  );
});
