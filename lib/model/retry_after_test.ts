import { assertEquals } from "@std/assert";
import { readRetryAfterS } from "./retry_after.ts";

const NOW = Date.UTC(2026, 0, 1, 12, 0, 0);

Deno.test("readRetryAfterS() reads seconds, dates and milliseconds", () => {
  const cases: [Record<string, string> | undefined, number | undefined][] = [
    [undefined, undefined],
    [{}, undefined],
    [{ "retry-after": "7" }, 7],
    [{ "retry-after": " 0 " }, 0],
    [{ "retry-after": "1.5" }, 1.5],
    [{ "retry-after": "Thu, 01 Jan 2026 12:00:20 GMT" }, 20],
    [{ "retry-after": "Thursday, 01-Jan-26 12:00:20 GMT" }, 20],
    [{ "retry-after": "Thu, 01 Jan 2026 11:00:00 GMT" }, 0],
    [{ "retry-after-ms": "250", "retry-after": "9" }, 0.25],
    [{ "retry-after-ms": "soon", "retry-after": "9" }, 9],
    [{ "retry-after": "soon" }, undefined],
    [{ "retry-after": "-1" }, undefined],
    [{ "retry-after": "" }, undefined],
    [{ "retry-after": "2026" }, 2026],
    [{ "retry-after": "1e9" }, undefined],
  ];
  for (const [headers, expected] of cases) {
    assertEquals(readRetryAfterS(headers, NOW), expected, JSON.stringify(headers));
  }
});
