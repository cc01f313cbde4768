import { assertEquals } from "@std/assert";
import { createHash, createHmac } from "node:crypto";
import { hmacSha256, sha256, sha256Hex } from "./sha256.ts";

/** Short ones first; with the long one, all that follow are hashed by node:crypto. */
const TEXTS = ["", "a", "ß\u{1f600}", "\ud800 alone", "b".repeat(65), "c".repeat(1_000_000), "a"];

Deno.test("sha256() and hmacSha256() give what node:crypto gives, before and after it is loaded", () => {
  const keys = [new Uint8Array(32).fill(7), new Uint8Array(65).fill(8)];
  for (const text of TEXTS) {
    const wanted = createHash("sha256").update(text).digest("hex");
    assertEquals(sha256Hex(text), wanted);
    assertEquals(sha256(new TextEncoder().encode(text)), Uint8Array.fromHex(wanted));
    for (const key of keys) {
      const mac = createHmac("sha256", key).update(text).digest("hex");
      assertEquals(hmacSha256(key, text), Uint8Array.fromHex(mac));
    }
  }
});
