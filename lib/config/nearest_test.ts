import { assertEquals } from "@std/assert";
import { nearestKey } from "./nearest.ts";

const KEYS = ["host", "port", "apiKey", "timeoutS", "authFailuresPerMinute"];

for (
  const [typed, meant] of [
    ["prot", "port"],
    ["prt", "port"],
    ["hosts", "host"],
    ["api-key", "apiKey"],
    ["APIKEY", "apiKey"],
    ["timeout", "timeoutS"],
    ["authFailurePerMinutes", "authFailuresPerMinute"],
    ["colour", undefined],
    ["x".repeat(10_000), undefined],
    ["", undefined],
  ] as const
) {
  Deno.test(`nearestKey() takes ${JSON.stringify(typed.slice(0, 30))} for ${meant}`, () => {
    assertEquals(nearestKey(typed, KEYS), meant);
  });
}
