import { assertEquals } from "@std/assert";
import { fakeClock } from "../../../lib/agent/testing/fake_clock.ts";
import { wordsOf } from "../words.ts";
import { Approvals, type ApprovalsDeps } from "./approvals.ts";

Deno.test("Approvals.refuse() lets a person click again when the first click was lost on its way", () => {
  const clock = fakeClock();
  const memory = { get: () => undefined, set: () => {} };
  const approvals = new Approvals(
    { clock, memory, words: wordsOf("en") } as unknown as ApprovalsDeps,
  );
  const click = (id: string) =>
    approvals.refuse({ approvalId: "apr_1", senderId: "7", ref: { id } } as never);
  assertEquals([click("1"), click("1")], [undefined, undefined]);
  assertEquals(typeof click("2"), "string");
  clock.tick(4 * 60_000);
  assertEquals(click("3"), undefined);
});
