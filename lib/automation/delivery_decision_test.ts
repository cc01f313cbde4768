import { assertEquals } from "@std/assert";
import { deliveryDecision, type RunResult } from "./delivery_decision.ts";

const done = (answer: string): RunResult => ({ status: "done", answer });
const failed = (error: string): RunResult => ({ status: "failed", error });

/** Which of some results, one after the other, are sent. */
function sent(when: "always" | "change" | "error", results: RunResult[]): boolean[] {
  let previous: string | undefined;
  return results.map((result) => {
    const { deliver, digest } = deliveryDecision(previous, result, when);
    previous = digest;
    return deliver;
  });
}

Deno.test("deliveryDecision() sends everything with always, failures alone with error", () => {
  const results = [done("a"), done("a"), failed("x"), failed("x")];
  assertEquals(sent("always", results), [true, true, true, true]);
  assertEquals(sent("error", results), [false, false, true, true]);
});

Deno.test("deliveryDecision() sends what differs from the result before with change", () => {
  assertEquals(sent("change", [done("a"), done("a"), done("b"), done("a")]), [
    true,
    false,
    true,
    true,
  ]);
  assertEquals(
    sent("change", [done("a"), failed("log 1"), failed("log 2"), done("a"), done("a")]),
    [
      true,
      true,
      false,
      true,
      false,
    ],
  );
});

Deno.test("deliveryDecision() takes blanks and Unicode forms for no change, and nothing else", () => {
  assertEquals(sent("change", [done("caf\u00e9  is\n\nopen\n"), done(" cafe\u0301 is open")]), [
    true,
    false,
  ]);
  assertEquals(sent("change", [done("isopen"), done("is open")]), [true, true]);
  assertEquals(sent("change", [done("Open"), done("open")]), [true, true]);
  assertEquals(sent("change", [done(""), done("  "), failed("")]), [true, false, true]);
});
