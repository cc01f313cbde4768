/**
 * Messages that were written while nobody listened, of the channels that the bot was spoken to in.
 *
 * @module
 */

import type { APIMessage } from "discord.js";
import type { Clock } from "../../../lib/agent/clock.ts";
import { RetryLaterError } from "../../../lib/channel/delivery_error.ts";
import type { Log } from "../../../lib/log.ts";
import type { SeenChannel } from "../gateway/bookmark.ts";
import { discordCode } from "../rest/delivery_fault.ts";

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
  sleep: (ms: number) => Promise<void>;
  clock: Pick<Clock, "elapsed">;
  log: Pick<Log, "info" | "warning">;
  signal: AbortSignal;
}

/** Waits before a channel is asked for again that Discord has given no answer of, milliseconds. */
const AGAIN_MS = [1_000, 3_000, 9_000];

/** Discord's codes for a channel that is gone, not seen, or not to be read. */
const NO_ACCESS: readonly unknown[] = [10003, 50001, 50013];

/** Looks into one channel after the other. What cannot be read now is named in the log. */
export async function catchUp(deps: CatchUpDeps): Promise<void> {
  const { channels, log, clock, signal } = deps;
  const endMs = clock.elapsed() + MAX_MS;
  let found = 0;
  for (const [index, channel] of channels.slice(0, MAX_CHANNELS).entries()) {
    const { channelId } = channel;
    if (signal.aborted) return;
    if (clock.elapsed() > endMs) {
      log.warning("Not all channels were looked into for messages of the time before", {
        channels: channels.length,
        looked: index,
      });
      break;
    }
    try {
      found += await readChannel(channel, deps, endMs);
    } catch (error) {
      if (signal.aborted) return;
      if (NO_ACCESS.includes(discordCode(error))) deps.forget(channelId);
      else {
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
  { messagesAfter, take, sleep, clock, log, signal }: CatchUpDeps,
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
    if (messages.length === 0) return found;
    await take(channel, messages);
    found += messages.length;
    after = messages.at(-1)!.id;
    if (messages.length < 100) return found;
  }
  log.warning("A channel has more messages of the time before than are looked at", {
    channel: channelId,
    looked: found,
  });
  return found;
}
