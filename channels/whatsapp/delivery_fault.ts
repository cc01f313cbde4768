/**
 * How a request to WhatsApp fails, and what that means for a message and for the login.
 *
 * @module
 */

import { DisconnectReason } from "baileys";
import {
  LoginRefusedError,
  NotConnectedError,
  RetryLaterError,
} from "../../lib/channel/delivery_error.ts";
import { callError, type FailureTable, neverSent } from "../../lib/channel/platform/mod.ts";

const WHATSAPP_FAULTS: FailureTable = {
  peer: "WhatsApp",
  // 479: the devices of whoever receives it have changed, and are asked for again.
  kinds: { 401: "refused", 479: "failed", 502: "failed", 503: "failed", 504: "failed" },
  broken: "failed",
  advice: {
    403: "the account may not write there: it is no member, or was blocked",
    404: "there is no such chat",
    463: "it lets this account begin no new chats for now. Wait, and let people write to it first",
  },
  unsaidMs: 60_000,
};

/** Of an error of the client library. */
interface BoomLike {
  message: string;
  output?: { statusCode?: number };
  data?: unknown;
}

/** A message that the server has refused, by the code that it says. */
export function refusedMessage(status: number): Error {
  return callError(WHATSAPP_FAULTS, { status, what: "the message" });
}

/** An error of a request, as a delivery fails. Messages themselves are confirmed in another way. */
export function toDeliveryError(error: unknown): unknown {
  const { message, output, data } = error as BoomLike;
  if (output === undefined) return neverSent(error) ? new NotConnectedError(message) : error;
  const code = typeof data === "number" ? data : output.statusCode ?? 500;
  switch (code) {
    case DisconnectReason.connectionClosed:
    case DisconnectReason.timedOut:
    case DisconnectReason.unavailableService:
      return new NotConnectedError(message);
    default:
      return refusedMessage(code);
  }
}

/**
 * Why a connection has ended, in words; undefined for one to be renewed at once. Throws a
 * `LoginRefusedError` where another try is of no use, and a `RetryLaterError` where WhatsApp says when.
 */
export function endOf(error: unknown, advice: string): string | undefined {
  const { message, output, data } = (error ?? { message: "the connection ended" }) as BoomLike;
  switch (output?.statusCode) {
    case DisconnectReason.restartRequired:
      return undefined;
    case DisconnectReason.loggedOut:
    case DisconnectReason.forbidden:
    case 406:
      throw new LoginRefusedError(
        `WhatsApp has signed this program out: it was removed on the phone, or the account is blocked. ${advice}`,
      );
    case 402: {
      const seconds = Number((data as { expire?: unknown } | undefined)?.expire);
      const forMs = Number.isFinite(seconds) && seconds > 0 ? seconds * 1_000 : 60 * 60_000;
      throw new RetryLaterError("WhatsApp has banned the account for a while", forMs);
    }
    case 405:
      throw new LoginRefusedError(
        "WhatsApp takes this version of its web client no more: set clientVersion to that of web.whatsapp.com, " +
          "or update this program",
      );
    case DisconnectReason.connectionReplaced:
      return "another program uses the same login; end it, or connect each by itself";
    default:
      return message;
  }
}
