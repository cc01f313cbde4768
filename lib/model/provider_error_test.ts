import { assert, assertEquals } from "@std/assert";
import { ProviderError, toProviderError } from "./provider_error.ts";
import { readProvider } from "./provider_spec.ts";

const origin = {
  spec: readProvider("fake", {
    baseUrl: "http://h/v1",
    apiKey: "sk-very-secret-key",
    headers: { "x-team": "team-secret-value" },
    model: "",
  }),
  model: "fake/m",
  now: () => 0,
};

/** An error as the packages throw it for an answer. */
function answer(statusCode: number | undefined, responseBody = "", more: object = {}): Error {
  const error = Object.assign(new Error("Bad Request"), { statusCode, responseBody, ...more });
  error.name = "AI_APICallError";
  return error;
}

function read(error: unknown): [string, string, boolean] {
  const { code, message, transient } = toProviderError(error, origin);
  return [code, message, transient];
}

Deno.test("toProviderError() tells by the status whether another try can help", () => {
  const transient = [408, 409, 425, 500, 502, 503, 504, 529];
  for (const status of [400, 401, 403, 404, 422, ...transient]) {
    const error = toProviderError(answer(status, "no"), origin);
    assertEquals(error.code, "provider_error");
    assertEquals(error.transient, transient.includes(status), String(status));
    assertEquals(error.details.providerStatus, status);
  }
});

Deno.test("toProviderError() tells a rate limit from a quota that is used up", () => {
  const limit = '{"error":{"message":"slow","code":"rate_limit_exceeded"}}';
  const quota =
    '{"error":{"message":"pay","type":"insufficient_quota","code":"insufficient_quota"}}';
  assertEquals(read(answer(429, limit)), [
    "provider_rate_limited",
    "fake/m refuses more requests for now (429): slow",
    true,
  ]);
  assertEquals(read(answer(429, quota))[2], false);
});

Deno.test("toProviderError() keeps the provider's words, and no secret", () => {
  const body = '{"error":{"message":"sk-very-secret-key of team-secret-value is wrong."}}';
  assertEquals(
    read(answer(400, body))[1],
    "fake/m answered 400: [secret] of [secret] is wrong",
  );
  assertEquals(read(answer(502, "<html>Bad gateway</html>"))[1], "fake/m answered 502");
});

Deno.test("toProviderError() reads errors that come inside a stream", () => {
  assertEquals(read({ message: "Overloaded", type: "overloaded_error" }), [
    "provider_error",
    "fake/m answered 529: Overloaded",
    true,
  ]);
  assertEquals(read({ message: "wait", code: 429 })[0], "provider_rate_limited");
  assertEquals(read({ message: "who?", type: "authentication_error" })[2], false);
  assertEquals(read({ message: "odd", type: "strange" }), [
    "provider_error",
    "fake/m reports an error: odd",
    true,
  ]);
  assertEquals(read("plain words")[1], "fake/m reports an error: plain words");
  assertEquals(read({ message: "maximum context length is 5", code: "x" })[0], "context_overflow");
});

Deno.test("toProviderError() reads an error that a package took for an answer of a wrong shape", () => {
  const error = Object.assign(new Error("Type validation failed: Value: {…}"), {
    name: "AI_TypeValidationError",
    value: { error: "model is loading" },
  });
  assertEquals(read(error)[1], "fake/m reports an error: model is loading");
  const shape = Object.assign(new Error("x"), { name: "AI_TypeValidationError", value: { a: 1 } });
  assertEquals(read(shape), [
    "provider_error",
    "the answer of fake/m was cut off: its stream holds data of an unknown shape",
    false,
  ]);
});

Deno.test("toProviderError() takes a body that breaks for an answer that was cut off", () => {
  const cut = "the answer of fake/m was cut off: the connection broke";
  assertEquals(read(answer(200)), ["provider_error", cut, true]);
  assertEquals(read(new TypeError("error reading a body from connection")), [
    "provider_error",
    cut,
    true,
  ]);
});

Deno.test("toProviderError() says what a package cannot do", () => {
  const error = new Error("'file part media type audio/x' functionality not supported.");
  assertEquals(read(error), [
    "provider_error",
    "cannot ask fake/m: 'file part media type audio/x' functionality not supported",
    false,
  ]);
});

Deno.test("toProviderError() finds an error of ours that a package wrapped", () => {
  const ours = new ProviderError("provider_unreachable", "cannot reach it", true);
  assert(toProviderError(ours, origin) === ours);
  assert(toProviderError(answer(undefined, "", { cause: ours }), origin) === ours);
});
