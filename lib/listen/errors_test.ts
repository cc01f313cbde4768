import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { ERROR_CODES, ServiceError } from "../base/errors.ts";
import { HTTP_ERRORS } from "./error_table.ts";
import { errorResponse, toHttpError } from "./errors.ts";

Deno.test("HTTP_ERRORS has a 4xx or 5xx, a slug of its own and a meaning for every code", () => {
  const slugs = ERROR_CODES.map((code) => HTTP_ERRORS[code].slug);
  assertEquals(new Set(slugs).size, slugs.length);
  for (const code of ERROR_CODES) {
    const { status, slug, meaning, type } = HTTP_ERRORS[code];
    assert(status >= 400 && status < 600, code);
    assertMatch(slug, /^[a-z_]+$/);
    assert(meaning.endsWith("."), code);
    assertEquals(type === "server_error", status >= 500, code);
    assertEquals(type === "rate_limit_error", status === 429, code);
  }
});

Deno.test("toHttpError() keeps text and param of an expected error", () => {
  const error = new ServiceError("invalid_request", "session_id must be …", {
    param: "session_id",
  });
  assertEquals(toHttpError(error, { logId: "req_1" }), {
    status: 400,
    headers: {},
    envelope: {
      error: {
        message: "session_id must be …",
        type: "invalid_request_error",
        param: "session_id",
        code: "invalid_request",
      },
    },
    reason: "invalid_request session_id",
    hidden: undefined,
  });
});

Deno.test("toHttpError() gives the log a field that is one, and nothing that a caller made up", () => {
  const reason = (param: string) =>
    toHttpError(new ServiceError("invalid_request", "x", { param })).reason;
  for (const param of ["session_id", "X-Session-Id", "messages[0].content[1].image_url.url"]) {
    assertEquals(reason(param), `invalid_request ${param}`);
  }
  for (const param of ["my password", "a\nb", "ä", "x".repeat(101), ""]) {
    assertEquals(reason(param), "invalid_request");
  }
});

Deno.test("toHttpError() hides the text of an unexpected error behind a log id", () => {
  const before = toHttpError(new TypeError("secret stuff"), { logId: "req_1" });
  assertEquals(before.status, 500);
  assertEquals(before.envelope.error.code, "internal_error");
  assertStringIncludes(before.envelope.error.message, "req_1");
  assert(!JSON.stringify(before.envelope).includes("secret stuff"));
  assertEquals(before.hidden?.cause.message, "secret stuff");

  const after = toHttpError(new TypeError("secret stuff"), { logId: "req_1", accepted: true });
  assertEquals(after.envelope.error.code, "turn_failed");
  assertEquals(after.headers["x-should-retry"], "false");
});

Deno.test("toHttpError() hides the text of turn_failed and prefers the log id that it brings", () => {
  const error = new ServiceError("turn_failed", "at /home/me/x.ts:3", { logId: "log_7" });
  const { envelope, hidden } = toHttpError(error, { logId: "req_1", accepted: true });
  assertStringIncludes(envelope.error.message, "log_7");
  assert(!envelope.error.message.includes("/home/me"));
  assertEquals(hidden?.logged, true);
});

Deno.test("toHttpError() names the provider's status once", () => {
  const silent = new ServiceError("provider_error", "It broke", { providerStatus: 503 });
  assertStringIncludes(toHttpError(silent).envelope.error.message, "status 503");
  const telling = new ServiceError("provider_error", "503: overloaded", { providerStatus: 503 });
  assertEquals(toHttpError(telling).envelope.error.message, "503: overloaded");
  assertEquals(toHttpError(telling).status, 502);
});

Deno.test("toHttpError() passes Retry-After on in whole seconds, at least one", () => {
  const at = (retryAfterS: number) =>
    toHttpError(new ServiceError("provider_rate_limited", "Slow down", { retryAfterS }));
  assertEquals(at(7.2).headers["retry-after"], "8");
  assertEquals(at(0).headers["retry-after"], "1");
  assertEquals(at(1).status, 429);
});

Deno.test("toHttpError() forbids a retry after acceptance and on every 409", () => {
  const retry = (error: ServiceError, accepted: boolean) =>
    toHttpError(error, { accepted }).headers["x-should-retry"];
  assertEquals(retry(new ServiceError("provider_error", "x"), true), "false");
  assertEquals(retry(new ServiceError("queue_full", "x"), false), undefined);
  assertEquals(retry(new ServiceError("turn_cancelled", "x"), false), "false");
});

Deno.test("errorResponse() answers in JSON with the headers of the error", async () => {
  const response = errorResponse(toHttpError(new ServiceError("invalid_api_key", "No key")));
  assertEquals(response.status, 401);
  assertEquals(response.headers.get("www-authenticate"), "Bearer");
  assertEquals(response.headers.get("content-type"), "application/json");
  assertEquals(await response.json(), {
    error: {
      message: "No key",
      type: "authentication_error",
      param: null,
      code: "invalid_api_key",
    },
  });
});
