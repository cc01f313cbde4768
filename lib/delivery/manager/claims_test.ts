import { assertEquals } from "@std/assert";
import { claimants } from "./claims.ts";
import { testSpec } from "./testing/channel_world.ts";

Deno.test("claimants() gives a name to who has it, else to the first that is enabled, else to the first", () => {
  const off = testSpec("a", { enabled: false });
  const first = testSpec("a", { channel: "b" });
  const second = testSpec("a", { channel: "c", instanceId: "x" });
  const other = testSpec("d");
  const nobody = () => undefined;
  assertEquals([...claimants([off, first, second, other], nobody)], [first, other]);
  assertEquals([...claimants([off], nobody)], [off]);
  // By channel and instance: the rest of it may have changed.
  const held = { ...second, fingerprint: "before" };
  assertEquals([...claimants([off, first, second], () => held)], [second]);
  assertEquals([...claimants([first, { ...second, enabled: false }], () => held)], [first]);
});
