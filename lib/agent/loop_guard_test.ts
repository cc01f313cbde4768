import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import fc from "fast-check";
import { canonicalJson, type LoopAdvice, LoopGuard } from "./loop_guard.ts";

/** Calls by a letter each; a call's output is its letter unless given after a colon. */
function kinds(sequence: string): LoopAdvice["kind"][] {
  const guard = new LoopGuard();
  return sequence.split(" ").map((word) => {
    const [tool, output = tool] = word.split(":");
    return guard.observe({ tool: tool!, args: { n: tool }, output: output! }).kind;
  });
}

Deno.test("LoopGuard.observe() warns at the third and stops at the fifth equal call", () => {
  assertEquals(kinds("a a a a a"), ["ok", "ok", "warn", "warn", "stop"]);
});

Deno.test("LoopGuard.observe() counts anew when result, arguments or tool change", () => {
  assertEquals(kinds("a a a:2 a:2 a a b a a"), Array(9).fill("ok"));
  const guard = new LoopGuard();
  for (let n = 0; n < 20; n++) {
    assertEquals(guard.observe({ tool: "a", args: { n }, output: "x" }).kind, "ok");
  }
});

Deno.test("LoopGuard.observe() stops cycles of two and of three calls", () => {
  assertEquals(kinds("a b a b a b a b"), [..."okokokokok".match(/ok/g)!, "warn", "warn", "stop"]);
  assertEquals(kinds("x a b c a b c a b c a b c").slice(-4), ["warn", "warn", "warn", "stop"]);
});

Deno.test("LoopGuard.observe() takes arguments for the same whatever the order of their keys", () => {
  const guard = new LoopGuard();
  const args = [{ a: 1, b: [{ c: 2, d: 3 }] }, { b: [{ d: 3, c: 2 }], a: 1 }];
  const advice = [0, 1, 0, 1, 0].map((which) =>
    guard.observe({ tool: "t", args: args[which], output: "" })
  );
  assertEquals(advice.at(-1)!.kind, "stop");
});

Deno.test("LoopGuard.observe() explains in words that name the tools", () => {
  const guard = new LoopGuard();
  const advice = Array.from(
    { length: 8 },
    (_, at) => guard.observe({ tool: at % 2 === 0 ? "read" : "list", args: {}, output: "" }),
  );
  const [warn, stop] = [advice[5]!, advice[7]!];
  assert(warn.kind === "warn" && stop.kind === "stop");
  assertStringIncludes(warn.note, "read, then list was called 3 times");
  assertStringIncludes(stop.reason, "read, then list 4 times in a row");
});

Deno.test("LoopGuard.observe() never speaks up while no call is repeated", () => {
  fc.assert(fc.property(fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 60 }), (tools) => {
    const guard = new LoopGuard();
    tools.forEach((tool, at) => {
      assertEquals(guard.observe({ tool, args: {}, output: String(at) }).kind, "ok");
    });
  }));
});

Deno.test("LoopGuard.observe() stops every cycle of at most three calls, whatever came before", () => {
  const letters = fc.constantFrom("a", "b", "c", "d");
  fc.assert(fc.property(
    fc.array(letters, { maxLength: 30 }),
    fc.array(letters, { minLength: 1, maxLength: 3 }),
    (before, cycle) => {
      const guard = new LoopGuard();
      const observe = (tool: string) => guard.observe({ tool, args: {}, output: "" }).kind;
      before.forEach(observe);
      const advice = Array.from({ length: 15 }, (_, at) => observe(cycle[at % cycle.length]!));
      assert(advice.includes("stop"), advice.join());
    },
  ));
});

Deno.test("canonicalJson() gives equal text for equal values, and another for others", () => {
  fc.assert(fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
    const shuffled = JSON.parse(
      JSON.stringify(a),
      (_key, value) =>
        typeof value === "object" && value !== null && !Array.isArray(value)
          ? Object.fromEntries(Object.entries(value).reverse())
          : value,
    );
    assertEquals(canonicalJson(shuffled), canonicalJson(a));
    assertEquals(canonicalJson(a) === canonicalJson(b), equal(a, b));
  }));
  assertEquals(canonicalJson(undefined), "undefined");
});

function equal(a: unknown, b: unknown): boolean {
  try {
    assertEquals(JSON.parse(JSON.stringify(a)), JSON.parse(JSON.stringify(b)));
    return true;
  } catch {
    return false;
  }
}
