/**
 * What a homeserver's errors mean for whoever asked (client-server API, "Standard error response").
 *
 * @module
 */

import { ConnectionError, HTTPError, MatrixError } from "matrix-js-sdk";
import {
  LoginRefusedError,
  NotConnectedError,
  PermanentDeliveryError,
  RetryLaterError,
} from "../../../lib/channel/delivery_error.ts";

/** The token is none (any more). `isSoft`: the server wants the same device to log in again. */
export type LoginFault = { kind: "login"; words: string; isSoft: boolean };

export type MatrixFault =
  | LoginFault
  /** The server says when to come again. */
  | { kind: "later"; words: string; waitMs: number }
  /** A repeat cannot mend it. */
  | { kind: "refused"; words: string; errcode: string | undefined; status: number }
  /** Anything else, which a repeat may mend. `isGone`: nobody of the API has answered. */
  | { kind: "away"; words: string; isGone: boolean };

/** Where a server limits without saying for how long, milliseconds. */
const USUAL_WAIT_MS = 5_000;
const LONGEST_WAIT_MS = 60 * 60_000;

/** Statuses below 500 that say nothing of the request itself. */
const PASSING: readonly number[] = [408, 425, 429];

/** What an error is. The words of the server are left out where it may have repeated a secret. */
export function readFault(error: unknown): MatrixFault {
  if (error instanceof LoginRefusedError) {
    return { kind: "login", words: error.message, isSoft: false };
  }
  if (!(error instanceof HTTPError)) {
    return { kind: "away", words: awayWords(error), isGone: error instanceof ConnectionError };
  }
  const status = error.httpStatus ?? 0;
  // A proxy in front of the server may take less than the server says.
  const unsaid = status === 413 ? "M_TOO_LARGE" : undefined;
  const errcode = error instanceof MatrixError ? error.errcode ?? unsaid : unsaid;
  const data: Record<string, unknown> = error instanceof MatrixError ? error.data : {};
  switch (errcode) {
    case "M_UNKNOWN_TOKEN":
    case "M_MISSING_TOKEN":
      return {
        kind: "login",
        words: "the homeserver does not know the session (any more): it was signed out, or the " +
          "access token is wrong",
        isSoft: data.soft_logout === true,
      };
    case "M_USER_DEACTIVATED":
      return { kind: "login", words: "the account of the bot is deactivated", isSoft: false };
    case "M_USER_LOCKED":
      return { kind: "login", words: "the account of the bot is locked", isSoft: false };
  }
  if (status === 429 || errcode === "M_LIMIT_EXCEEDED") {
    const waitMs = waitOf(error as HTTPError);
    return { kind: "later", words: "the homeserver limits how often it is asked", waitMs };
  }
  if (status >= 300 && status < 400) {
    // Not followed: the token is for the server that was named.
    const to = URL.parse(error.httpHeaders?.get("location") ?? "")?.origin ?? "another address";
    const words = `the homeserver sends requests to ${to}: set homeserver to that`;
    return { kind: "away", words, isGone: true };
  }
  const said = serverWords(data.error);
  const words = `${errcode ?? `status ${status}`}${said === "" ? "" : `: ${said}`}`;
  // Without an error of the API it is a proxy that answers, of a server that is not there.
  if (status >= 400 && status < 500 && errcode !== undefined && !PASSING.includes(status)) {
    return { kind: "refused", words, errcode, status };
  }
  return { kind: "away", words, isGone: errcode === undefined };
}

/** The error that a delivery fails with. `canLogInAgain`: by a password. */
export function deliveryError(error: unknown, canLogInAgain: boolean): Error {
  const fault = readFault(error);
  switch (fault.kind) {
    case "login":
      // Whoever polls is told the same, and is about to log in again, or knows that it may not.
      if (fault.isSoft || canLogInAgain) return new NotConnectedError(fault.words);
      return new LoginRefusedError(`The login is refused: ${fault.words}. Set a new accessToken`);
    case "later":
      return new RetryLaterError(fault.words, fault.waitMs);
    case "refused":
      return new PermanentDeliveryError(refusalWords(fault));
    case "away":
      return fault.isGone
        ? new NotConnectedError(fault.words)
        : new Error(`The homeserver did not take it: ${fault.words}`);
  }
}

/**
 * The same as a connection fails: what a server refuses today it may not refuse tomorrow, but for a login.
 */
export function connectionError(error: unknown): unknown {
  const fault = readFault(error);
  const isLasting = fault.kind === "refused" || fault.kind === "away";
  return isLasting ? new NotConnectedError(fault.words) : error;
}

function refusalWords({ errcode, words }: MatrixFault & { kind: "refused" }): string {
  switch (errcode) {
    case "M_FORBIDDEN":
      return `The bot may not write there: it is not in the room, or its power level is too low (${words})`;
    case "M_TOO_LARGE":
      return `That is too large for the homeserver (${words})`;
    case "M_NOT_FOUND":
      return `There is no such room (${words})`;
    default:
      return `The homeserver refuses it (${words})`;
  }
}

function waitOf(error: HTTPError): number {
  let ms: number | null = null;
  try {
    ms = error.getRetryAfterMs();
    // Other codes with that status may say it, too.
    if (ms === null && error instanceof MatrixError) ms = Number(error.data.retry_after_ms);
  } catch {
    // What is no number of the server's is none.
  }
  if (ms === null || !Number.isFinite(ms)) return USUAL_WAIT_MS;
  return Math.min(Math.max(0, ms), LONGEST_WAIT_MS);
}

function serverWords(text: unknown): string {
  if (typeof text !== "string") return "";
  return text.replace(/[\s\p{Cc}\p{Cf}]+/gu, " ").trim().slice(0, 200).toWellFormed();
}

function awayWords(error: unknown): string {
  if (error instanceof ConnectionError) return "it cannot be reached, or the connection was cut";
  if (error instanceof SyntaxError) return "it answered with what is no JSON";
  return error instanceof Error ? error.message : String(error);
}
