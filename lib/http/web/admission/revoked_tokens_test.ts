import { assertEquals } from "@std/assert";
import { ManualClock } from "../../testing/manual_clock.ts";
import { type LastingToken, RECHECK_MS, RevokedTokens } from "./revoked_tokens.ts";

const tokenOf = (token: string, expiresAt?: number): LastingToken => ({
  credential: { kind: "token", token },
  ...expiresAt !== undefined && { expiresAt },
});

/** One over tokens that are in force, with every question that was asked, and who was told. */
function world(...tokens: string[]) {
  const clock = new ManualClock();
  const inForce = new Set(tokens);
  const asked: string[] = [];
  const told: string[] = [];
  let fails = false;
  const revoked = new RevokedTokens({
    clock,
    check: (credential) => {
      const { token } = credential as { token: string };
      asked.push(token);
      if (fails) return Promise.reject(new Error("nobody there"));
      return Promise.resolve(inForce.has(token) ? { id: "tok_x", scopes: ["read"] } : undefined);
    },
  });
  return {
    clock,
    inForce,
    asked,
    told,
    revoked,
    setFails: (value: boolean) => void (fails = value),
    watch: (token: string, name: string, expiresAt?: number) =>
      revoked.watch(tokenOf(token, expiresAt), () => void told.push(name)),
    /** The next look, to its end. */
    async look() {
      clock.advance(RECHECK_MS);
      for (let turn = 0; turn < 20; turn++) await Promise.resolve();
    },
  };
}

Deno.test("RevokedTokens tells everybody who came in by a token that was revoked, once, and nobody else", async () => {
  const { inForce, asked, told, watch, look, clock } = world("a", "b");
  watch("a", "first");
  watch("a", "second");
  watch("b", "other");
  await look();
  assertEquals([asked, told], [["a", "b"], []], "once for each token");
  inForce.delete("a");
  await look();
  assertEquals(told, ["first", "second"]);
  await look();
  assertEquals(told, ["first", "second"]);
  assertEquals(asked.slice(-1), ["b"]);
  assertEquals(clock.timers, 1);
});

Deno.test("RevokedTokens asks nothing while nobody is watched", async () => {
  const { asked, watch, look, clock } = world("a");
  const stops = [watch("a", "first"), watch("a", "second")];
  stops.forEach((stop) => stop());
  assertEquals(clock.timers, 0);
  await look();
  assertEquals(asked, []);
  // Left and come again while it is looked.
  const stop = watch("a", "third");
  clock.advance(RECHECK_MS);
  stop();
  watch("a", "fourth");
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
  assertEquals(clock.timers, 1);
});

Deno.test("RevokedTokens leaves alone who came in by a token that has expired, or cannot be asked about", async () => {
  const { inForce, told, watch, look, setFails, clock } = world("a", "b");
  watch("a", "expired", 2 * RECHECK_MS);
  watch("b", "unknown");
  await look();
  inForce.delete("a");
  await look();
  assertEquals(told, []);
  setFails(true);
  inForce.delete("b");
  await look();
  assertEquals(told, []);
  setFails(false);
  await look();
  assertEquals([told, clock.timers], [["unknown"], 0]);
});
