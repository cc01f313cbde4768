import { assertEquals } from "@std/assert";
import { lockedClosure } from "./locked_closure.ts";

const LOCK = {
  specifiers: {
    "npm:@scope/top@1.0.0": "1.0.0_peer@2.0.0",
    "npm:alone@3.0.0": "3.0.0",
    "npm:two_words@1.0.0": "1.0.0",
  },
  npm: {
    "@scope/top@1.0.0_peer@2.0.0": { dependencies: ["low", "peer"] },
    "low@0.1.0": { dependencies: ["many@1.0.0", "@scope/top"] },
    "many@1.0.0": {},
    "many@2.0.0": {},
    "peer@2.0.0": {},
    "alone@3.0.0": {},
    "two_words@1.0.0": { dependencies: ["many@2.0.0"] },
  },
};

Deno.test("lockedClosure() follows dependencies in the versions of the lock, each once", () => {
  assertEquals(lockedClosure(["npm:@scope/top@1.0.0", "npm:alone@3.0.0"], LOCK), [
    "@scope/top@1.0.0",
    "alone@3.0.0",
    "low@0.1.0",
    "peer@2.0.0",
    "many@1.0.0",
  ]);
  assertEquals(lockedClosure(["npm:two_words@1.0.0"], LOCK), ["two_words@1.0.0", "many@2.0.0"]);
});

Deno.test("lockedClosure() keeps a dependency that the lock doesn't have", () => {
  assertEquals(lockedClosure(["npm:left-pad@1.3.0"], LOCK), ["left-pad@1.3.0"]);
  assertEquals(lockedClosure([], LOCK), []);
});

Deno.test("lockedClosure() of everything in deno.lock is everything in deno.lock", async () => {
  const lock = JSON.parse(await Deno.readTextFile(new URL("../../deno.lock", import.meta.url)));
  assertEquals(
    lockedClosure(Object.keys(lock.specifiers), lock).sort(),
    Object.keys(lock.npm).map((id) => /^@?[^@]+@[^_]+/.exec(id)![0]).sort(),
  );
});
