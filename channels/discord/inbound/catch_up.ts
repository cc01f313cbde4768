/**
 * Messages that were written while nobody listened, of the channels that the bot was spoken to in.
 *
 * @module
 */

import type { APIMessage } from "discord.js";
import type { Clock } from "../../../lib/base/clock.ts";
import { RetryLaterError } from "../../../lib/channel/delivery_error.ts";
import type { Log } from "../../../lib/base/log.ts";
import type { SeenChannel } from "../gateway/bookmark.ts";
import { discordCode } from "../rest/discord_faults.ts";

/** Pages of 100 messages of one channel. */
const MAX_PAGES = 5;
/** Channels that are looked into. */
const MAX_CHANNELS = 200;
/** All of it may take so long, milliseconds: what comes in meanwhile waits. */
const MAX_MS = 120_000;

/** What it works with. */
export interface CatchUpDeps {
  channels: readonly SeenChannel[];
  /** Of a channel, the oldest first. */
  messagesAfter: (channelId: string, after: string) => Promise<APIMessage[]>;
  /** Resolves when they are on the disk. */
  take: (channel: SeenChannel, messages: readonly APIMessage[]) => Promise<void>;
  /** The bot has no business there any more. */
  forget: (channelId: string) => void;
  /** All of it is on the disk, up to the message. */
  done: (channelId: string, lastId: string) => void;
  /** It cannot be looked into now. */
  owe: (channelId: string) => void;
  sleep: (ms: number) => Promise<void>;
  clock: Pick<Clock, "elapsed">;
  log: Pick<Log, "info" | "warning">;
  signal: AbortSignal;
}

/** Waits before a channel is asked for again that Discord has given no answer of, milliseconds. */
const AGAIN_MS = [1_000, 3_000, 9_000];

/** Discord's codes for a channel that is gone, not seen, or not to be read. */
const NO_ACCESS: readonly unknown[] = [10003, 50001, 50013];

/** Looks into one channel after the other. What cannot be read now is named in the log, and owed. */
export async function catchUp(deps: CatchUpDeps): Promise<void> {
  const { log, clock, signal, owe } = deps;
  const channels = deps.channels.slice(0, MAX_CHANNELS);
  const endMs = clock.elapsed() + MAX_MS;
  let found = 0;
  for (const [index, channel] of channels.entries()) {
    const { channelId } = channel;
    if (signal.aborted) return;
    if (clock.elapsed() > endMs) {
      log.warning("Not all channels were looked into yet for messages of the time before", {
        channels: channels.length,
        looked: index,
      });
      for (const { channelId } of channels.slice(index)) owe(channelId);
      break;
    }
    try {
      found += await readChannel(channel, deps, endMs);
    } catch (error) {
      if (signal.aborted) return;
      if (NO_ACCESS.includes(discordCode(error))) deps.forget(channelId);
      else {
        owe(channelId);
        log.warning("A channel could not be looked into for messages of the time before", {
          channel: channelId,
          reason: error instanceof Error ? error.message.slice(0, 200) : "unknown",
        });
      }
    }
  }
  if (found > 0) log.info("Messages of the time before were found", { found });
}

async function readChannel(
  channel: SeenChannel,
  { messagesAfter, take, done, sleep, clock, log, signal }: CatchUpDeps,
  endMs: number,
): Promise<number> {
  const { channelId } = channel;
  let after = channel.lastId;
  let found = 0;
  for (let page = 0, failures = 0; page < MAX_PAGES;) {
    let messages: APIMessage[];
    try {
      messages = await messagesAfter(channelId, after);
    } catch (error) {
      // What has ended the session often ends more; what is not read now is not read again.
      const waitMs = error instanceof RetryLaterError
        ? error.retryAfterMs
        : discordCode(error) === undefined
        ? AGAIN_MS[failures++]
        : undefined;
      if (waitMs === undefined || clock.elapsed() + waitMs > endMs) throw error;
      await sleep(waitMs);
      signal.throwIfAborted();
      continue;
    }
    page += 1;
    failures = 0;
    if (messages.length > 0) {
      await take(channel, messages);
      found += messages.length;
      after = messages.at(-1)!.id;
    }
    if (messages.length < 100) {
      done(channelId, after);
      return found;
    }
  }
  done(channelId, after);
  log.warning("A channel has more messages of the time before than are looked at", {
    channel: channelId,
    looked: found,
  });
  return found;
}
