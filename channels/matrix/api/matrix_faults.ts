/**
 * What a homeserver's errors mean for whoever asked (client-server API, "Standard error response").
 *
 * @module
 */

import { ConnectionError, HTTPError, MatrixError, safeGetRetryAfterMs } from "matrix-js-sdk";
import {
  LoginRefusedError,
  NotConnectedError,
  PermanentDeliveryError,
} from "../../../lib/channel/delivery_error.ts";
import {
  callError,
  failedCall,
  type FailureTable,
  pauseOf,
  reasonOf,
} from "../../../lib/channel/platform/mod.ts";

const UNKNOWN_SESSION =
  "it does not know the session (any more): it was signed out, or the access token is wrong";

const MATRIX_FAULTS: FailureTable = {
  peer: "The homeserver",
  // An event with the same transaction id again is that event: nothing is uncertain.
  kinds: {
    M_UNKNOWN_TOKEN: "login",
    M_MISSING_TOKEN: "login",
    M_USER_DEACTIVATED: "login",
    M_USER_LOCKED: "login",
    M_LIMIT_EXCEEDED: "later",
    ...{ 401: "refused", 502: "failed", 503: "failed", 504: "failed" },
  },
  broken: "failed",
  advice: {
    M_UNKNOWN_TOKEN: UNKNOWN_SESSION,
    M_MISSING_TOKEN: UNKNOWN_SESSION,
    M_USER_DEACTIVATED: "the account of the bot is deactivated",
    M_USER_LOCKED: "the account of the bot is locked",
    M_FORBIDDEN:
      "the bot may not write there: it is not in the room, or its power level is too low",
    M_TOO_LARGE: "that is too large for the homeserver",
    M_NOT_FOUND: "there is no such room",
  },
};

const LONGEST_WAIT_MS = 60 * 60_000;

/** The error of a request, as `callError` has it. The words of the server are made short. */
export function matrixFault(error: unknown): Error {
  if (error instanceof LoginRefusedError || error instanceof PermanentDeliveryError) return error;
  if (error instanceof HTTPError) return httpFault(error as HTTPError);
  if (error instanceof ConnectionError) {
    return new NotConnectedError(error.message.replace(/^fetch failed: (Not connected: )?/, ""));
  }
  // Its own words hold a piece of the answer.
  if (error instanceof SyntaxError) return new Error("The homeserver's answer is no JSON");
  return error instanceof Error ? error : new Error(String(error));
}

function httpFault(error: HTTPError): Error {
  const status = error.httpStatus ?? 0;
  const data: Record<string, unknown> = error instanceof MatrixError ? error.data : {};
  // A proxy in front of the server may take less than the server says.
  const unsaid = status === 413 ? "M_TOO_LARGE" : "";
  const code = error instanceof MatrixError ? error.errcode ?? unsaid : unsaid;
  const isLimited = status === 429 || code === "M_LIMIT_EXCEEDED";
  const words = serverWords(data.error);
  const said = isLimited
    ? "it limits how often it is asked"
    : `${code || `status ${status}`}${words === "" ? "" : `: ${words}`}`;
  // Without an error of the API it is a proxy that answers, of a server that is not there.
  const kind = code === "" && !isLimited ? "away" : undefined;
  const retryAfterMs = isLimited ? waitOf(error, data) : undefined;
  return callError(MATRIX_FAULTS, { status, code, said, data, kind, retryAfterMs });
}

/** The server wants the same device to log in again. */
export function isSoftLogout(fault: Error): boolean {
  return failedCall(fault)?.data.soft_logout === true;
}

/** What says nothing of the request itself: another time may be better, though nobody says when. */
export function isPassing(fault: Error): boolean {
  return !(fault instanceof LoginRefusedError || fault instanceof PermanentDeliveryError) &&
    pauseOf(fault) === 0;
}

/** The error that a delivery fails with. `canLogInAgain`: by a password. */
export function deliveryError(error: unknown, canLogInAgain: boolean): Error {
  const fault = matrixFault(error);
  if (!(fault instanceof LoginRefusedError)) return fault;
  // Whoever polls is told the same, and is about to log in again, or knows that it may not.
  if (isSoftLogout(fault) || canLogInAgain) return new NotConnectedError(fault.message);
  return new LoginRefusedError(`${fault.message}. Set a new accessToken`);
}

/**
 * The same as a connection fails: what a server refuses today it may not refuse tomorrow, but for a login.
 */
export function connectionError(error: unknown): unknown {
  const fault = matrixFault(error);
  const isLasting = fault instanceof PermanentDeliveryError || isPassing(fault);
  return isLasting ? new NotConnectedError(reasonOf(fault)) : error;
}

function waitOf(error: HTTPError, data: Readonly<Record<string, unknown>>): number | undefined {
  // Other codes with that status may say it, too.
  const ms = safeGetRetryAfterMs(error, Number(data.retry_after_ms ?? NaN));
  return Number.isFinite(ms) ? Math.min(Math.max(0, ms), LONGEST_WAIT_MS) : undefined;
}

function serverWords(text: unknown): string {
  if (typeof text !== "string") return "";
  return text.replace(/[\s\p{Cc}\p{Cf}]+/gu, " ").trim().slice(0, 200).toWellFormed();
}
