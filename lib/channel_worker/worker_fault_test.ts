import { assert, assertEquals } from "@std/assert";
import {
  LoginRefusedError,
  PermanentDeliveryError,
  RetryLaterError,
  UncertainDeliveryError,
} from "../channel/delivery_error.ts";
import { fromWorkerFault, messageOf, toWorkerFault } from "./worker_fault.ts";

const over = (error: unknown) => fromWorkerFault(structuredClone(toWorkerFault(error)));

Deno.test("toWorkerFault() and fromWorkerFault() keep what a repeat may mend", () => {
  const permanent = over(new PermanentDeliveryError("the chat is gone"));
  assert(permanent instanceof PermanentDeliveryError);
  assertEquals(permanent.message, "the chat is gone");
  const later = over(new RetryLaterError("slow down", 1_500));
  assert(later instanceof RetryLaterError);
  assertEquals([later.message, later.retryAfterMs], ["slow down", 1_500]);
  assert(over(new UncertainDeliveryError("no answer")) instanceof UncertainDeliveryError);
  const refused = over(new LoginRefusedError("token revoked"));
  assert(refused instanceof LoginRefusedError);
  assertEquals(refused.message, "token revoked");
  const other = over(new TypeError("reset"));
  assertEquals([other.name, other.message], ["Error", "reset"]);
});

Deno.test("toWorkerFault() knows errors of another copy of the contract by their names", () => {
  const error = Object.assign(new Error("no"), { name: "PermanentDeliveryError" });
  assertEquals(toWorkerFault(error).kind, "permanent");
});

Deno.test("toWorkerFault() believes no wait that is none", () => {
  for (const ms of [NaN, -1, Infinity, "1"]) {
    const error = new RetryLaterError("later", ms as number);
    assertEquals(toWorkerFault(error), { kind: "temporary", message: "later" });
  }
  assertEquals(toWorkerFault(new RetryLaterError("x", 1e12)).retryAfterMs, 86_400_000);
});

Deno.test("messageOf() is one short line, whatever was thrown", () => {
  assertEquals(messageOf(new Error("a\n\u001b[31mb\u001b[0m\u0000c")), "a b c");
  assertEquals(messageOf(new RangeError()), "RangeError");
  assertEquals(messageOf(undefined), "undefined");
  assertEquals(messageOf(""), "it failed without words");
  assertEquals(messageOf(Object.create(null)), "it failed without words");
  assertEquals(messageOf("x".repeat(5_000)).length, 1_000);
  assertEquals(
    messageOf(new Error('Requires net access to "a:1", run again with the --allow-net flag')),
    'Requires net access to "a:1": the manifest\'s permissions do not name it',
  );
  // The cut goes through no secret.
  const scrub = (text: string) => text.replaceAll("hunter22", "[secret]");
  assertEquals(messageOf(`${"x".repeat(995)}hunter22`, scrub), `${"x".repeat(995)}[secr`);
});
