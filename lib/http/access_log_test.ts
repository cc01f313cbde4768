import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { type AccessEntry, createAccessLog } from "./access_log.ts";
import { anyString } from "../../tests/support/any_string.ts";

const entry: AccessEntry = {
  requestId: "req_1",
  peer: "127.0.0.1",
  method: "POST",
  path: "/v1/chat/completions",
  status: 400,
  durationMs: 12.345,
  reason: "invalid_request session_id",
};

function line(format: "text" | "json", changes: Partial<AccessEntry> = {}): string {
  const lines: string[] = [];
  createAccessLog({ port: "api", format, write: (text) => lines.push(text), now: () => 0 })({
    ...entry,
    ...changes,
  });
  assertEquals(lines.length, 1);
  return lines[0]!;
}

Deno.test("createAccessLog() writes a readable line", () => {
  assertEquals(
    line("text"),
    "1970-01-01T00:00:00.000Z POST /v1/chat/completions 400 12.3ms peer=127.0.0.1 " +
      'request=req_1 reason="invalid_request session_id"',
  );
  assert(line("text", { stream: "cancelled" }).includes(" stream=cancelled "));
});

Deno.test("createAccessLog() writes a JSON line", () => {
  assertEquals(JSON.parse(line("json", { stream: "ended" })), {
    time: "1970-01-01T00:00:00.000Z",
    method: "POST",
    path: "/v1/chat/completions",
    status: 400,
    duration_ms: 12.3,
    reason: "invalid_request session_id",
    stream: "ended",
    peer: "127.0.0.1",
    request_id: "req_1",
  });
});

Deno.test("createAccessLog() keeps a line one line without control characters", () => {
  // deno-lint-ignore no-control-regex -- that is what must not be there
  const controls = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;
  const text = anyString();
  fc.assert(fc.property(text, text, text, (path, method, reason) => {
    for (const format of ["text", "json"] as const) {
      assert(!controls.test(line(format, { path, method, reason })));
    }
    assertEquals(JSON.parse(line("json", { path, method, reason })).method, method);
  }));
});

Deno.test("createAccessLog() cuts a long path", () => {
  assert(line("text", { path: "/a".repeat(10_000) }).length < 1_000);
});
