import { assertEquals, assertThrows } from "@std/assert";
import { readVerification } from "./read_verification.ts";

const SAID = { deviceId: "DEV", key: "abc", isVerified: true, state: "compare", with: "@ann:a" };

Deno.test("readVerification() copies what a channel says of its session, bounded, and nothing else of it", () => {
  const emoji = Array.from({ length: 99 }, () => ({ symbol: "🐶", name: "Dog", more: 1 }));
  const read = readVerification({ ...SAID, emoji, message: "x".repeat(9_999), other: () => {} });
  assertEquals([read.emoji!.length, read.message!.length], [16, 300]);
  assertEquals(read.emoji![0], { symbol: "🐶", name: "Dog" });
  assertEquals(Object.keys(read).includes("other"), false);
  assertEquals(readVerification({ ...SAID, isVerified: "yes" }).isVerified, false);
});

Deno.test("readVerification() throws for what is none", () => {
  const none = [null, 1, "", {}, { ...SAID, state: "maybe" }, { ...SAID, key: 5 }, {
    ...SAID,
    emoji: [{ symbol: 1, name: "" }],
  }];
  for (const value of none) assertThrows(() => readVerification(value), Error);
});
