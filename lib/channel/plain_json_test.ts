import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { plainJson } from "./plain_json.ts";
import { cpuMs } from "../../tests/support/cpu_ms.ts";

const MAX = 10_000;

Deno.test("plainJson() copies what JSON holds", () => {
  fc.assert(fc.property(fc.jsonValue({ maxDepth: 8 }), (value) => {
    const plain = JSON.parse(JSON.stringify(value));
    if (JSON.stringify(plain).length > MAX / 2) return;
    const copy = plainJson(structuredClone(plain), MAX);
    assertEquals(copy, plain);
    assert(typeof plain !== "object" || plain === null || copy !== plain);
  }));
});

Deno.test("plainJson() takes nothing that is no JSON", () => {
  const itself: Record<string, unknown> = {};
  itself.itself = itself;
  for (
    const value of [
      undefined,
      1n,
      NaN,
      Infinity,
      new Date(0),
      new Map(),
      new Uint8Array(1),
      [, 1],
      [undefined],
      { a: [1n] },
      itself,
    ]
  ) assertEquals(plainJson(value, MAX), undefined);
});

Deno.test("plainJson() ends soon at what one object many times over would become", () => {
  let value: unknown = "x";
  for (let level = 0; level < 30; level++) value = [value, value];
  const start = cpuMs();
  assertEquals(plainJson(value, MAX), undefined);
  assert(cpuMs() - start < 1_000);
  assertEquals(plainJson(new Array(2 ** 31), MAX), undefined);
  assertEquals(plainJson({ ["k".repeat(MAX)]: 1 }, MAX), undefined);
  assertEquals(plainJson("x".repeat(MAX), MAX), undefined);
});
