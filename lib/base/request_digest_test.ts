import { assertEquals, assertNotEquals } from "@std/assert";
import { fileDigest, requestDigest } from "./request_digest.ts";

Deno.test("requestDigest() goes by what is said and not by how its keys stand", () => {
  assertEquals(requestDigest({ a: 1, b: [null, "x"] }), requestDigest({ b: [null, "x"], a: 1 }));
  assertEquals(requestDigest({ a: 1, b: undefined }), requestDigest({ a: 1 }));
  const digests = [
    { a: "1" },
    { a: 1 },
    { a: ["1"] },
    { a: ["1", ""] },
    { a: null },
    {},
    [],
    "a",
    { a: '1",b:"2' },
    { a: "1", b: "2" },
  ].map(requestDigest);
  assertEquals(new Set(digests).size, digests.length);
});

Deno.test("fileDigest() is the SHA-256 of the bytes", () => {
  assertEquals(
    fileDigest(new TextEncoder().encode("a")),
    "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb",
  );
  assertNotEquals(fileDigest(new Uint8Array(1)), fileDigest(new Uint8Array(0)));
});
