import { assertEquals } from "@std/assert";
import { readLogLine } from "./log_line.ts";

const TIME = "2026-01-31T12:00:00.000Z";

Deno.test("readLogLine() reads messages and requests, in either format", () => {
  assertEquals(readLogLine(`${TIME} warning Disk is full free=3`), {
    time: TIME,
    level: "warning",
    message: "Disk is full free=3",
  });
  const request = {
    time: TIME,
    method: "GET",
    path: "/health",
    status: 503,
    durationMs: 1.5,
  };
  assertEquals(readLogLine(`${TIME} GET /health 503 1.5ms peer=::1 request=r1 reason="full"`), {
    ...request,
    message: 'peer=::1 request=r1 reason="full"',
  });
  const { durationMs, ...json } = request;
  const line = { ...json, duration_ms: durationMs, reason: "full", peer: "::1" };
  assertEquals(readLogLine(JSON.stringify(line)), { ...request, message: "reason=full peer=::1" });
  const message = { free: 3, time: TIME, level: "error", message: "Disk is full" };
  assertEquals(readLogLine(JSON.stringify(message)), {
    time: TIME,
    level: "error",
    message: "Disk is full free=3",
  });
});

Deno.test("readLogLine() takes any other line as a message, and a request that calls itself error as one", () => {
  for (const text of ["", "plain words", "{", "null", "[1]", `${TIME} odd`]) {
    assertEquals(readLogLine(text), { message: text });
  }
  assertEquals(readLogLine('{"free":3,"level":"error","message":"cut…'), {
    level: "error",
    message: '{"free":3,"level":"error","message":"cut…',
  });
  assertEquals(readLogLine(`${TIME} error /x 404 0.1ms peer=::1`).status, 404);
});
