import { assertEquals, assertThrows } from "@std/assert";
import { ServiceError } from "../base/errors.ts";
import { BearerAuth } from "./auth.ts";
import { AuthFailures } from "./auth_failures.ts";

function setup(perMinute = 100) {
  let nowMs = 0;
  const failures = new AuthFailures({ perMinute, elapsed: () => nowMs });
  const auth = new BearerAuth({ key: "right-key", setting: "api.apiKey", failures });
  const refusal = (header: string | null, peer = "10.0.0.1") => {
    try {
      auth.check(header, peer);
    } catch (error) {
      return error as ServiceError;
    }
  };
  return { refusal, advance: (ms: number) => nowMs += ms };
}

Deno.test("BearerAuth accepts the right key whatever the case of the scheme", () => {
  const { refusal } = setup();
  for (const scheme of ["Bearer", "bearer", "BEARER"]) {
    assertEquals(refusal(`${scheme} right-key`), undefined);
  }
  assertEquals(refusal("Bearer   right-key "), undefined);
});

for (
  const header of [
    null,
    "",
    "Bearer",
    "Bearer ",
    "Bearer wrong",
    "Bearer right-ke",
    "Bearer right-key2",
    "Bearer Right-Key",
    "Bearer right-key right-key",
    "Basic right-key",
    "right-key",
    "Bearer \u00e9\u00e8",
    "Bearer right-key\u00a0",
  ]
) {
  Deno.test(`BearerAuth answers ${JSON.stringify(header)} with invalid_api_key`, () => {
    assertEquals(setup().refusal(header)?.code, "invalid_api_key");
  });
}

Deno.test("BearerAuth counts failures by address and never holds up the right key", () => {
  const { refusal, advance } = setup(3);
  for (let i = 0; i < 3; i++) assertEquals(refusal("Bearer x")?.code, "invalid_api_key");
  const limited = refusal("Bearer x");
  assertEquals(limited?.code, "too_many_auth_failures");
  assertEquals(limited?.details.retryAfterS, 60);
  assertEquals(refusal("Bearer x", "10.0.0.2")?.code, "invalid_api_key");
  assertEquals(refusal("Bearer right-key"), undefined);
  advance(60_000);
  assertEquals(refusal("Bearer x")?.code, "invalid_api_key");
});

for (const key of ["schlüssel", "two words", "", "a\nb"]) {
  Deno.test(`BearerAuth refuses to start with the key ${JSON.stringify(key)}`, () => {
    const failures = new AuthFailures({ perMinute: 1, elapsed: () => 0 });
    const error = assertThrows(
      () => new BearerAuth({ key, setting: "api.apiKey", failures }),
      ServiceError,
      "api.apiKey",
    );
    assertEquals(error.code, "config_invalid");
    if (key !== "") assertEquals(error.message.includes(key), false);
  });
}
