/**
 * How a request to WhatsApp fails, and what that means for a message and for the login.
 *
 * @module
 */

import { DisconnectReason } from "baileys";
import {
  LoginRefusedError,
  NotConnectedError,
  PermanentDeliveryError,
  RetryLaterError,
} from "../../lib/channel/delivery_error.ts";
import { neverSent } from "../../lib/channel/platform/mod.ts";

/** How long an account is left alone that has asked too much, milliseconds. */
const TOO_MUCH_MS = 60_000;

/** Of an error of the client library. */
interface BoomLike {
  message: string;
  output?: { statusCode?: number };
  data?: unknown;
}

const REFUSALS: Readonly<Record<number, string>> = {
  403: "the account may not write there: it is no member, or was blocked",
  404: "there is no such chat",
  463:
    "WhatsApp lets this account begin no new chats for now. Wait, and let people write to it first",
};

/** A message that the server has refused, by the code that it says. */
export function refusedMessage(code: number): Error {
  const words = REFUSALS[code] ?? `WhatsApp has refused the message (${code})`;
  // 479: the devices of whoever receives it have changed, and are asked for again.
  if (code === 429) return new RetryLaterError(words, TOO_MUCH_MS);
  return code >= 500 || code === 479 ? new Error(words) : new PermanentDeliveryError(words);
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
