import { assertEquals } from "@std/assert";
import { ERROR_CODES } from "../lib/base/errors.ts";
import { OUTCOMES } from "./outcome.ts";

Deno.test("OUTCOMES gives each error code the exit code that scripts rely on", () => {
  const special: Record<string, number> = {
    usage: 2,
    config_invalid: 3,
    provider_error: 4,
    provider_rate_limited: 4,
    provider_unreachable: 4,
    empty_answer: 4,
    context_overflow: 4,
    refused: 5,
    invalid_token: 5,
    insufficient_scope: 5,
    approval_mismatch: 5,
    approval_expired: 5,
    approval_void: 5,
    approval_stopped: 5,
    turn_cancelled: 130,
  };
  for (const code of ERROR_CODES) assertEquals(OUTCOMES[code].exit, special[code] ?? 1, code);
  assertEquals(Object.keys(OUTCOMES).toSorted(), [...ERROR_CODES].toSorted());
});
