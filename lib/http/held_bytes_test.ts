import { assertEquals, assertThrows } from "@std/assert";
import { ServiceError } from "../base/errors.ts";
import { HeldBytes } from "./held_bytes.ts";

Deno.test("Lease.add() gives back all of a lease that found no room, so that the next one fits", () => {
  const held = new HeldBytes(100);
  const leases = [held.lease(), held.lease()] as const;
  leases[0].add(60);
  leases[1].add(40);
  const error = assertThrows(() => leases[0].add(1), ServiceError);
  assertEquals([error.code, error.details.retryAfterS], ["overloaded", 5]);
  assertEquals(held.bytes, 40);
  leases[1].add(60);
  for (const lease of leases) lease[Symbol.dispose]();
  assertEquals(held.bytes, 0);
});
