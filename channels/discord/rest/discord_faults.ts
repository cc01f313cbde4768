/**
 * What the errors of Discord's API mean.
 *
 * @module
 */

import { DiscordAPIError, HTTPError } from "discord.js";
import {
  callError,
  failedCall,
  type FailureTable,
  noAnswer,
} from "../../../lib/channel/platform/mod.ts";

const DISCORD_FAULTS: FailureTable = {
  peer: "Discord",
  kinds: { 409: "failed" },
  // A message that it has taken all the same is known by its nonce.
  broken: "failed",
  // Developer documentation, "Opcodes and Status Codes", "JSON".
  advice: {
    401:
      "make a new token in the developer portal (Bot, Reset Token), and set channels.discord.token",
    10003: "the channel is gone, or the bot is no longer on its server",
    10004: "the server is gone, or the bot is no longer on it",
    10008: "the message is gone",
    40005: "the files are too large for this server",
    40067: "a post of a forum needs a tag; send into a thread of it",
    50001: "the bot does not see the channel: give its role View Channel there",
    50007:
      "this person takes no direct messages from it: they have to allow direct messages of the server",
    50008: "this kind of channel takes no messages",
    50013:
      "the bot lacks a permission: give its role Send Messages, Send Messages in Threads and " +
      "Attach Files there",
    50083: "the thread is archived and locked: a moderator has to open it",
    50278: "the bot and this person share no server",
    160005: "the thread is locked: a moderator has to open it",
    240000: "AutoMod of the server refuses the text",
  },
};

/** Answers of a guard in front of Discord, where Discord's own would have a code. */
const IN_FRONT: readonly number[] = [401, 403, 404, 407];

/** What the code in an error says; undefined for errors that are none of Discord's. */
export function discordCode(error: unknown): number | undefined {
  const { code = "" } = failedCall(error) ?? {};
  return /^\d+$/.test(code) ? Number(code) : undefined;
}

/** The words for a token that is refused. */
export function loginRefused(): Error {
  return callError(DISCORD_FAULTS, { status: 401 });
}

/** The error of a call, as discord.js has it. */
export function discordFault(error: unknown): unknown {
  if (error instanceof HTTPError) {
    return callError(DISCORD_FAULTS, { status: error.status });
  }
  // It has said yes, and then no JSON.
  if (error instanceof SyntaxError) return noAnswer("Discord's answer is no JSON");
  if (!(error instanceof DiscordAPIError)) return error;
  const { status, message } = error;
  const code = typeof error.code === "number" ? String(error.code) : "";
  const said = `${message.replaceAll(/\s+/g, " ").slice(0, 300)}, ${code || status}`;
  const kind = code === "" && IN_FRONT.includes(status) ? "away" : undefined;
  return callError(DISCORD_FAULTS, { status, code, said, kind });
}
