import { assert, assertEquals, assertInstanceOf } from "@std/assert";
import {
  LoginRefusedError,
  NotConnectedError,
  PermanentDeliveryError,
  RetryLaterError,
  UncertainDeliveryError,
} from "../delivery_error.ts";
import {
  callError,
  FailedCall,
  failedCall,
  type FailureTable,
  noAnswer,
  ofRepeatable,
  pauseOf,
} from "./failed_call.ts";

const TABLE: FailureTable = {
  peer: "Acme",
  kinds: { gone: "refused", busy: "failed", bad_token: "login", 409: "failed" },
  advice: { gone: "the room is gone; make another" },
  reasons: [[/too many words/, "make it shorter"]],
  unsaidMs: 7_000,
};

Deno.test("callError() reads the platform's code, then the table's statuses, then the usual ones", () => {
  for (
    const [call, type] of [
      [{ status: 200, code: "gone" }, PermanentDeliveryError],
      [{ status: 400, code: "busy" }, Error],
      [{ status: 500, code: "bad_token" }, LoginRefusedError],
      [{ status: 409, code: "other" }, Error],
      [{ status: 401 }, LoginRefusedError],
      [{ status: 404 }, PermanentDeliveryError],
      [{ status: 408 }, Error],
      [{ status: 429 }, RetryLaterError],
      [{ status: 500 }, UncertainDeliveryError],
      [{ status: 502 }, NotConnectedError],
      [{ status: 504 }, UncertainDeliveryError],
      [{ status: 0 }, UncertainDeliveryError],
      [{ status: 400, code: "toString" }, PermanentDeliveryError],
    ] as const
  ) {
    assertEquals(callError(TABLE, call).constructor, type, JSON.stringify(call));
  }
  const broken = callError({ ...TABLE, broken: "failed" }, { status: 500 });
  assertEquals(broken.constructor, Error);
});

Deno.test("callError() says who refuses what, and what to do about it", () => {
  const call = { status: 400, code: "gone", said: "No such room" };
  const error = callError(TABLE, { ...call, what: "the message" });
  assertEquals(
    error.message,
    "Acme refused the message: the room is gone; make another (No such room)",
  );
  assertEquals(failedCall(error), new FailedCall(call));
  const long = callError(TABLE, { status: 400, said: "too many words" });
  assertEquals(long.message, "Acme refused it: make it shorter (too many words)");
  assertEquals(failedCall(new Error("another", { cause: new Error("x") })), undefined);
});

Deno.test("pauseOf() is what the platform says, or the table's, and nothing while it is away", () => {
  assertEquals(pauseOf(callError(TABLE, { status: 429, retryAfterMs: 90 })), 90);
  assertEquals(pauseOf(callError(TABLE, { status: 429 })), 7_000);
  assertEquals(pauseOf(callError(TABLE, { status: 503 })), 0);
});

Deno.test("ofRepeatable() leaves nothing uncertain, and costs no attempt where nobody has answered", () => {
  const silent = noAnswer("cut off");
  assertInstanceOf(ofRepeatable(silent), NotConnectedError);
  assertEquals(failedCall(ofRepeatable(silent)), failedCall(silent));
  const broken = ofRepeatable(callError(TABLE, { status: 500 }));
  assert(!(broken instanceof UncertainDeliveryError) && !(broken instanceof RetryLaterError));
  const refused = callError(TABLE, { status: 400 });
  assertEquals(ofRepeatable(refused), refused);
});
