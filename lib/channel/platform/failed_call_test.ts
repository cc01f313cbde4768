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
  codes: { gone: "refused", busy: "failed", bad_token: "login" },
  statuses: { 409: "failed" },
  advice: ({ code }) => code === "gone" ? "the room is gone; make another" : undefined,
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
    assertEquals(callError(new FailedCall(call), TABLE).constructor, type, JSON.stringify(call));
  }
  const broken = callError(new FailedCall({ status: 500 }), { ...TABLE, broken: "failed" });
  assertEquals(broken.constructor, Error);
});

Deno.test("callError() says who refuses what, and what to do about it", () => {
  const call = new FailedCall({ status: 400, code: "gone", said: "No such room" });
  const error = callError(call, TABLE, { what: "the message" });
  assertEquals(
    error.message,
    "Acme refused the message: the room is gone; make another (No such room)",
  );
  assertEquals(failedCall(error), call);
  assertEquals(failedCall(new Error("another", { cause: new Error("x") })), undefined);
});

Deno.test("pauseOf() is what the platform says, or the table's, and nothing while it is away", () => {
  const limited = new FailedCall({ status: 429 });
  assertEquals(pauseOf(callError(limited, TABLE, { retryAfterMs: 90 })), 90);
  assertEquals(pauseOf(callError(limited, TABLE)), 7_000);
  assertEquals(pauseOf(callError(new FailedCall({ status: 503 }), TABLE)), 0);
});

Deno.test("ofRepeatable() leaves nothing uncertain, and costs no attempt where nobody has answered", () => {
  const silent = noAnswer("cut off");
  assertInstanceOf(ofRepeatable(silent), NotConnectedError);
  assertEquals(failedCall(ofRepeatable(silent)), failedCall(silent));
  const broken = ofRepeatable(callError(new FailedCall({ status: 500 }), TABLE));
  assert(!(broken instanceof UncertainDeliveryError) && !(broken instanceof RetryLaterError));
  const refused = callError(new FailedCall({ status: 400 }), TABLE);
  assertEquals(ofRepeatable(refused), refused);
});
