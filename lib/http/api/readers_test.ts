import { assertEquals } from "@std/assert";
import type { TurnRequest } from "../../contract/turns.ts";
import { ended, FakeTurn, FakeTurns, type Script, staysSilent } from "../testing/fake_turns.ts";
import { ManualClock } from "../testing/manual_clock.ts";
import { Readers, REPEAT_GRACE_MS } from "./readers.ts";

const REQUEST: TurnRequest = {
  sessionKey: "api:a",
  channel: "api",
  actor: "api:key",
  input: [{ type: "text", text: "hi" }],
  durable: false,
  attended: true,
};

async function setUp(request: Partial<TurnRequest> = {}, script: Script = staysSilent) {
  const clock = new ManualClock();
  const turns = new FakeTurns(script);
  const readers = new Readers({ turns, clock });
  const turn = await turns.submit({ ...REQUEST, ...request }) as FakeTurn;
  return { clock, turns, readers, turn };
}

Deno.test("Readers cancels a turn at once when the only reader leaves", async () => {
  const { readers, turn, clock } = await setUp();
  const leave = readers.join(turn, { graceMs: 0 });
  assertEquals([readers.size, turn.over], [1, false]);
  leave();
  leave();
  assertEquals([readers.size, turn.cancelled.aborted, clock.timers], [0, true, 0]);
  assertEquals(turn.presence, [true, false]);
});

Deno.test("Readers cancels a turn when the last of several has left", async () => {
  const { readers, turn } = await setUp();
  const leaves = [1, 2, 3].map(() => readers.join(turn.again(true), { graceMs: 0 }));
  leaves[1]!();
  leaves[1]!();
  leaves[0]!();
  assertEquals(turn.over, false);
  leaves[2]!();
  assertEquals(turn.cancelled.aborted, true);
});

Deno.test("Readers waits out the grace, which a new reader ends", async () => {
  const { readers, turn, clock } = await setUp();
  readers.join(turn, { graceMs: REPEAT_GRACE_MS })();
  assertEquals(turn.presence, [true, false]);
  clock.advance(REPEAT_GRACE_MS - 1);
  const leave = readers.join(turn.again(true), { graceMs: 0 });
  assertEquals(turn.presence, [true, false, true]);
  clock.advance(REPEAT_GRACE_MS);
  assertEquals(turn.over, false);
  leave();
  clock.advance(REPEAT_GRACE_MS - 1);
  assertEquals(turn.over, false);
  clock.advance(1);
  assertEquals([turn.cancelled.aborted, readers.size, clock.timers], [true, 0, 0]);
});

Deno.test("Readers waits for nothing when the turn has ended", async () => {
  const { readers, turn, clock } = await setUp({}, async function* () {
    yield ended();
  });
  for await (const _ of turn.events()) { /* to its end */ }
  readers.join(turn, { graceMs: REPEAT_GRACE_MS })();
  assertEquals([readers.size, clock.timers, turn.cancelled.aborted], [0, 0, false]);
});

Deno.test("Readers never cancels a turn that needs none", async () => {
  const background = await setUp({ durable: true });
  background.readers.join(background.turn, { graceMs: 0 })();
  const patient = await setUp();
  patient.readers.join(patient.turn, { graceMs: Infinity })();
  for (const { turn, readers, clock } of [background, patient]) {
    assertEquals([turn.over, readers.size, clock.timers], [false, 0, 0]);
    assertEquals(turn.presence, [true, false]);
    turn.cancel();
  }
});

Deno.test("Readers tells turns apart", async () => {
  const { readers, turns, turn } = await setUp();
  const other = await turns.submit(REQUEST) as FakeTurn;
  const leaveOther = readers.join(other, { graceMs: 0 });
  readers.join(turn, { graceMs: 0 })();
  assertEquals([turn.cancelled.aborted, other.cancelled.aborted], [true, false]);
  leaveOther();
  assertEquals(other.cancelled.aborted, true);
});
