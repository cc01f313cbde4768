import { assert, assertEquals, assertMatch } from "@std/assert";
import fc from "fast-check";
import { ExpiringTokens, MAX_OUTSTANDING_TOKENS } from "./expiring_tokens.ts";

function world(options: { ttlMs?: number; maxOutstanding?: number } = {}) {
  const clock = { ms: 0 };
  const tokens = new ExpiringTokens<number>({
    prefix: "swt_",
    ttlMs: 1_000,
    elapsed: () => clock.ms,
    ...options,
  });
  return { clock, tokens };
}

Deno.test("issue() gives tokens of the form that documents say, each another one", () => {
  const { tokens } = world();
  const issued = new Set(Array.from({ length: 100 }, (_, at) => tokens.issue(at)!));
  assertEquals(issued.size, 100);
  for (const token of issued) assertMatch(token, /^swt_[A-Za-z0-9_-]{43}$/);
});

Deno.test("take() gives a token's value once, also of two at the same instant", async () => {
  const { tokens } = world();
  const token = tokens.issue(7)!;
  const taken = await Promise.all([0, 1, 2].map(async () => {
    await Promise.resolve();
    return tokens.take(token);
  }));
  assertEquals(taken.filter((value) => value === 7).length, 1);
  assertEquals(tokens.take(token), undefined);
  assertEquals(tokens.find(token), undefined);
});

Deno.test("find() uses nothing up, and knows how long it holds still", () => {
  const { clock, tokens } = world();
  const token = tokens.issue(7)!;
  clock.ms = 400;
  assertEquals(tokens.find(token), { value: 7, leftMs: 600 });
  assertEquals(tokens.find(token), { value: 7, leftMs: 600 });
  clock.ms = 1_000;
  assertEquals(tokens.find(token), undefined);
  assertEquals(tokens.size, 0);
});

Deno.test("take() knows no token that is not one, or one of another kind", () => {
  const { tokens } = world();
  const token = tokens.issue(7)!;
  for (
    const near of [
      "",
      token.slice(0, -1),
      `${token}=`,
      ` ${token}`,
      `${token}\n`,
      token.replace("swt_", "sat_"),
      token.toUpperCase(),
      "x".repeat(1_000_000),
    ]
  ) assertEquals(tokens.take(near), undefined);
  assertEquals(tokens.take(token), 7);
});

Deno.test("issue() gives none beyond 10,000 outstanding, and again when some were used or expired", () => {
  const { clock, tokens } = world({ maxOutstanding: undefined });
  const issued = Array.from({ length: MAX_OUTSTANDING_TOKENS }, (_, at) => tokens.issue(at)!);
  assert(issued.every((token) => token !== undefined));
  assertEquals(tokens.issue(0), undefined);
  assertEquals(tokens.nextExpiryMs(), 1_000);
  assertEquals(tokens.take(issued[5_000]!), 5_000);
  clock.ms = 600;
  assert(tokens.issue(1) !== undefined);
  assertEquals(tokens.issue(0), undefined);
  assertEquals(tokens.nextExpiryMs(), 400);
  clock.ms = 1_000;
  assert(tokens.issue(2) !== undefined);
  assertEquals(tokens.size, 2);
});

Deno.test("a look costs the same however many tokens are outstanding, and however many were used", () => {
  const steps = (maxOutstanding: number): number => {
    const { clock, tokens } = world({ ttlMs: 10_000_000, maxOutstanding });
    for (let at = 0; at < maxOutstanding; at++) tokens.take(tokens.issue(at)!);
    for (let at = 0; at < maxOutstanding; at++) tokens.issue(at);
    clock.ms = 1;
    const startMs = performance.now();
    for (let at = 0; at < 20_000; at++) tokens.find("swt_".padEnd(47, "A"));
    return performance.now() - startMs;
  };
  steps(10);
  let [few, many] = [Infinity, Infinity];
  // In turns, and again where other programs had the processor: looking at each would take 1,000 times.
  for (let round = 0; round < 10 && !(many < 5 * few + 20); round++) {
    few = Math.min(few, steps(10));
    many = Math.min(many, steps(10_000));
  }
  assert(many < 5 * few + 20, `${many} ms beside ${few} ms`);
});

Deno.test("tokens are what a plain list of them would be, whatever is done in whatever order", () => {
  const step = fc.oneof(
    fc.record({ do: fc.constant("issue" as const) }),
    fc.record({ do: fc.constantFrom("take" as const, "find" as const), at: fc.nat(30) }),
    fc.record({ do: fc.constant("wait" as const), ms: fc.nat(700) }),
  );
  fc.assert(fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
    const { clock, tokens } = world({ maxOutstanding: 5 });
    const all: { token: string; value: number; untilMs: number; used: boolean }[] = [];
    const inForce = () => all.filter(({ untilMs, used }) => !used && clock.ms < untilMs);
    steps.forEach((each, value) => {
      if (each.do === "wait") clock.ms += each.ms;
      else if (each.do === "issue") {
        const hasRoom = inForce().length < 5;
        const token = tokens.issue(value);
        assertEquals(token !== undefined, hasRoom);
        if (token) all.push({ token, value, untilMs: clock.ms + 1_000, used: false });
      } else {
        const known = all[each.at];
        if (known === undefined) return;
        const wanted = inForce().includes(known) ? known.value : undefined;
        if (each.do === "find") assertEquals(tokens.find(known.token)?.value, wanted);
        else {
          assertEquals(tokens.take(known.token), wanted);
          known.used = true;
        }
      }
      assertEquals(tokens.some(() => true), inForce().length > 0);
      assertEquals(tokens.size, inForce().length);
    });
  }));
});
