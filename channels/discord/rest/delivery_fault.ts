/**
 * What an error of Discord's API means for a delivery.
 *
 * @module
 */

import { DiscordAPIError, HTTPError } from "discord.js";
import {
  LoginRefusedError,
  NotConnectedError,
  PermanentDeliveryError,
  RetryLaterError,
  UncertainDeliveryError,
} from "../../../lib/channel/delivery_error.ts";
import { CutOffError } from "./cut_off_error.ts";

/** What to do, by Discord's own codes (developer documentation, "Opcodes and Status Codes", "JSON"). */
const ADVICE: Readonly<Record<number, string>> = {
  10003: "the channel is gone, or the bot is no longer on its server",
  10004: "the server is gone, or the bot is no longer on it",
  10008: "the message is gone",
  40005: "the files are too large for this server",
  40067: "a post of a forum needs a tag; send into a thread of it",
  50001: "the bot does not see the channel: give its role View Channel there",
  50007:
    "this person takes no direct messages from it: they have to allow direct messages of the server",
  50008: "this kind of channel takes no messages",
  50013: "the bot lacks a permission: give its role Send Messages, Send Messages in Threads and " +
    "Attach Files there",
  50083: "the thread is archived and locked: a moderator has to open it",
  50278: "the bot and this person share no server",
  160005: "the thread is locked: a moderator has to open it",
  240000: "AutoMod of the server refuses the text",
};

/** Answers of a proxy, of a Discord that is not there. */
const AWAY: ReadonlySet<number> = new Set([502, 503]);
/** Answers of a proxy, or of a guard, where Discord has said nothing. */
const IN_FRONT: ReadonlySet<number> = new Set([401, 403, 404, 407]);
/** A proxy has waited for Discord, which may have done what it was asked. */
const TOO_LATE = 504;

/** What the code in an error says; undefined for errors that are none of Discord's. */
export function discordCode(error: unknown): number | undefined {
  return error instanceof DiscordAPIError && typeof error.code === "number"
    ? error.code
    : undefined;
}

/** Whether what was asked may have been done, and nobody has said so. */
export function isCutOff(error: unknown): boolean {
  return error instanceof CutOffError ||
    (error instanceof HTTPError && error.status === TOO_LATE);
}

/** Whether the token is none, or no longer: Discord's own word, and not that of a proxy in front of it. */
export function isLoginRefused(error: unknown): boolean {
  return error instanceof LoginRefusedError ||
    (error instanceof DiscordAPIError && error.status === 401 && discordCode(error) !== undefined);
}

/** The words for a token that is refused. */
export function loginRefused(): LoginRefusedError {
  return new LoginRefusedError(
    "Discord refuses the token: make a new one in the developer portal (Bot, Reset Token), " +
      "and set channels.discord.token",
  );
}

/** The error to reject a delivery with. */
export function deliveryFault(error: unknown): Error {
  if (isLoginRefused(error)) return loginRefused();
  if (error instanceof RetryLaterError || error instanceof PermanentDeliveryError) return error;
  // Behind a proxy that has no Discord, nothing was done.
  if (error instanceof HTTPError && AWAY.has(error.status)) {
    return new NotConnectedError(`Discord is away (${error.status})`);
  }
  if (isCutOff(error)) return new UncertainDeliveryError((error as Error).message);
  if (!(error instanceof DiscordAPIError)) {
    return error instanceof Error
      ? new Error(`Discord has not taken the message: ${error.message}`)
      : new Error("Discord has not taken the message");
  }
  const { status, code } = error;
  // Discord says what it refuses; this is somebody in front of it, who has a page for people.
  if (discordCode(error) === undefined && IN_FRONT.has(status)) {
    return new NotConnectedError(`something in front of Discord refuses it (${status})`);
  }
  const said = `${error.message.replaceAll(/\s+/g, " ").slice(0, 300)} (${code ?? status})`;
  if (status === 408 || status === 409 || status === 425) {
    return new Error(`Discord has not taken the message: ${said}`);
  }
  const advice = ADVICE[Number(code)];
  return new PermanentDeliveryError(
    `Discord refuses the message: ${advice === undefined ? said : `${advice}. It says: ${said}`}`,
  );
}
