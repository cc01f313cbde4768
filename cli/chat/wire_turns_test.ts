import { assertEquals, assertRejects } from "@std/assert";
import { ServiceError } from "../../lib/base/errors.ts";
import type { ServerFrame } from "../../lib/contract/wire/frames.ts";
import { type SendOutcome, WireError } from "../../lib/contract/wire/wire_client.ts";
import { WireTurns } from "./wire_turns.ts";

const usage = { input_tokens: 0, output_tokens: 0, reasoning_tokens: 0, cached_tokens: 0 };

function delta(turn_id: string, seq: number, text: string, chat_id = "c"): ServerFrame {
  return { event: "delta", chat_id, turn_id, seq, stream_id: "1", text };
}

function end(turn_id: string, seq: number): ServerFrame {
  return { event: "turn_end", chat_id: "c", turn_id, seq, status: "done", usage };
}

/** Turns over a client that accepts when it is told to. */
function turnsOfTest() {
  const accept: ((outcome: SendOutcome) => void)[] = [];
  const cancelled: string[] = [];
  const turns = new WireTurns({
    attach: () => Promise.reject(new WireError("no", "insufficient_scope")),
    send: () => new Promise((resolve) => accept.push(resolve)),
    cancel: (chatId) => void cancelled.push(chatId),
  });
  turns.attached("c");
  return { turns, accept, cancelled };
}

async function read(events: AsyncIterable<{ event: { type: string; text?: string } }>) {
  const read: string[] = [];
  for await (const { event } of events) read.push(event.text ?? event.type);
  return read;
}

const hi = [{ type: "text" as const, text: "hi" }];

Deno.test("WireTurns reads its own turn alone, whenever it learns which one that is", async () => {
  const { turns, accept } = turnsOfTest();
  const reading = read(turns.turn("c", hi));
  assertEquals(turns.take(delta("others", 1, "theirs")), true);
  turns.take(delta("own", 2, "mine"));
  accept[0]!({ turnId: "own" });
  turns.take(end("own", 3));
  assertEquals(await reading, ["mine", "turn_end"]);
  // Nothing is kept for a turn that nobody here reads.
  assertEquals(turns.take(delta("others", 4, "more")), false);
  assertEquals(turns.take(delta("own", 5, "late")), false);
});

Deno.test("WireTurns says nothing twice of a chat that begins anew", async () => {
  const { turns, accept } = turnsOfTest();
  const reading = read(turns.turn("c", hi));
  accept[0]!({ turnId: "own" });
  turns.take(delta("own", 1, "one "));
  // Those of another chat go on where they are.
  turns.beginAnew("b");
  turns.take(delta("own", 2, "one "));
  turns.beginAnew("c");
  await Promise.resolve();
  turns.take(delta("own", 2, "one one "));
  turns.take(delta("own", 3, "two"));
  turns.take(end("own", 4));
  assertEquals((await reading).join(""), "one one twoturn_end");
});

Deno.test("WireTurns ends a turn of which nothing more comes, with the reason, and those of its chat alone", async () => {
  const { turns, accept } = turnsOfTest();
  const refused = assertRejects(() => read(turns.turn("c", hi)), ServiceError, "not yours");
  accept[0]!({ turnId: "own" });
  await Promise.resolve();
  turns.take(delta("own", 1, "begun"));
  turns.fail(new WireError("elsewhere", "insufficient_scope"), "b");
  turns.take(delta("own", 2, "on"));
  turns.fail(new WireError("not yours", "insufficient_scope"), "c");
  assertEquals((await refused).code, "insufficient_scope");
  // The chat is asked for again before the next message.
  await assertRejects(() => read(turns.turn("c", hi)), ServiceError, "no");
});
