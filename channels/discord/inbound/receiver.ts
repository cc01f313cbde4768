/**
 * Deals with the events of the gateway: what is for the agent is on the disk before the number of its
 * event is, so that whatever ends the process loses none.
 *
 * @module
 */

import type { APIMessage, GatewayDispatchPayload } from "discord.js";
import type { Clock } from "../../../lib/base/clock.ts";
import {
  CatchUp,
  type Intake,
  type IntakeEntry,
  type PlatformSession,
} from "../../../lib/channel/platform/mod.ts";
import type { Log } from "../../../lib/base/log.ts";
import type { Bookmark, BotIdentity, SeenChannel } from "../gateway/bookmark.ts";
import { type DiscordApi, isSnowflake, snowflakeTime } from "../rest/discord_api.ts";
import type { InboundItem } from "./inbound_item.ts";
import { type Command, itemOf } from "./read_interaction.ts";
import { object, readMessage } from "./read_message.ts";

/** What came, and what it is where it was answered at once. */
export interface ReceivedEvent {
  payload: GatewayDispatchPayload;
  interaction?: Command;
}

/** What a receiver works with. */
export interface ReceiverDeps {
  bookmark: Bookmark;
  api: Pick<DiscordApi, "messagesAfter">;
  intake: Pick<Intake<InboundItem>, "add">;
  respond: "mention" | "all";
  isOwnThread: (channelId: string) => boolean;
  isAllowed: PlatformSession<InboundItem>["isAllowed"];
  /** Whether a message of the bot was sent by this program, by its nonce. */
  isOwnNonce: (nonce: unknown) => boolean;
  /** Connected; `isNew`: what happened before is not told by Discord. */
  onConnected: (identity: BotIdentity, isNew: boolean) => void;
  /** Something else may write as the bot. */
  onForeign: (messageId: string) => void;
  clock: Pick<Clock, "after">;
  log: Pick<Log, "info" | "warning">;
  signal: AbortSignal;
}

/** The number of an event that brought nothing is written so much later, milliseconds. */
const FLUSH_MS = 2_000;

/** Channels that are looked into for what was written before, and messages of a page. */
const MAX_CHANNELS = 200;
const PAGE = 100;

export class Receiver {
  readonly #deps: ReceiverDeps;
  readonly #history: CatchUp<SeenChannel & { id: string }, APIMessage>;
  #cancelFlush: (() => void) | undefined;
  /** The bookmark is ahead of what is on the disk. */
  #isAhead = false;

  constructor(deps: ReceiverDeps) {
    this.#deps = deps;
    const { api, bookmark, clock, log } = deps;
    this.#history = new CatchUp({
      chats: () =>
        bookmark.channels().slice(0, MAX_CHANNELS)
          .map((channel) => ({ id: channel.channelId, ...channel })),
      page: async ({ id, lastId }, after = lastId) => {
        const events = await api.messagesAfter(id, after);
        return { events, ...events.length >= PAGE && { next: events.at(-1)!.id } };
      },
      keyOf: ({ id }) => ({ id, at: snowflakeTime(id) }),
      take: (channel, messages) => this.#takeMissed(channel, messages),
      refused: ({ id }) => bookmark.forget(id),
      clock,
      log,
    });
    // What the process before this one could not look for.
    if (bookmark.isBehind) this.#history.readLater();
  }

  /** Resolves when the event is dealt with, or the channel stops. Never rejects. */
  async handle({ payload, interaction }: ReceivedEvent): Promise<void> {
    const { bookmark, log, signal } = this.#deps;
    try {
      const entries = await this.#entriesOf(payload, interaction);
      if (signal.aborted) return;
      if (bookmark.session !== undefined && payload.s > bookmark.session.sequence) {
        bookmark.session = { ...bookmark.session, sequence: payload.s };
      }
      if (entries.length === 0) return this.#flushSoon();
      await this.#add(entries);
    } catch (error) {
      if (signal.aborted) return;
      log.warning("An event of Discord could not be read", {
        event: String(payload.t).slice(0, 50),
        reason: reasonOf(error),
      });
    }
  }

  /** Reads no more, and writes what is known now. */
  async close(): Promise<void> {
    await this.#history.close();
    await this.flush();
  }

  /** Writes what is known now. */
  async flush(): Promise<void> {
    this.#cancelFlush?.();
    this.#cancelFlush = undefined;
    // Without the message that it stands behind, it would lose that one. Whoever writes the message writes it.
    if (this.#isAhead) return;
    await this.#deps.intake.add([], this.#cursors()).catch(() => {});
  }

  async #entriesOf(
    { t, d, s }: GatewayDispatchPayload,
    interaction: Command | undefined,
  ): Promise<IntakeEntry<InboundItem>[]> {
    const { bookmark, onConnected } = this.#deps;
    switch (t as string) {
      case "READY":
        await this.#onReady(object(d), s);
        return [];
      case "RESUMED":
        if (bookmark.identity !== undefined) onConnected(bookmark.identity, false);
        return [];
      case "MESSAGE_CREATE":
        return this.#messageEntries(object(d));
      case "MESSAGE_UPDATE":
        return this.#editEntries(object(d));
      case "INTERACTION_CREATE":
        return interaction === undefined ? [] : [entryOf(itemOf(interaction))];
      default:
        return [];
    }
  }

  async #onReady(ready: Readonly<Record<string, unknown>>, sequence: number): Promise<void> {
    const { bookmark, onConnected, signal } = this.#deps;
    const user = object(ready.user);
    const { id: applicationId } = object(ready.application);
    if (!isSnowflake(user.id) || typeof ready.session_id !== "string") {
      throw new Error("The gateway did not say who the bot is");
    }
    bookmark.identity = {
      userId: user.id,
      applicationId: isSnowflake(applicationId) ? applicationId : user.id,
      name: String(user.username ?? "").slice(0, 100),
    };
    // Not kept until what was missed is looked for: who ends before that looks again.
    await this.#history.read();
    if (signal.aborted) return;
    bookmark.session = {
      sessionId: ready.session_id,
      sequence,
      resumeUrl: String(ready.resume_gateway_url ?? ""),
    };
    if (!/^wss?:\/\//.test(bookmark.session.resumeUrl)) bookmark.session = undefined;
    // From here on a process that is killed finds again what it had not written down.
    await this.#add([]);
    onConnected(bookmark.identity, true);
  }

  /** How far it was read is kept behind that, by whoever writes next. */
  async #takeMissed(channel: SeenChannel, messages: readonly APIMessage[]): Promise<void> {
    const { intake, bookmark } = this.#deps;
    const { channelId, guildId } = channel;
    const entries = messages.flatMap((message) => {
      // A list does not say which server it is of.
      const item = this.#hear({ ...message, ...guildId !== undefined && { guild_id: guildId } });
      return item === undefined ? [] : [entryOf(item)];
    });
    await intake.add(entries);
    const last = messages.at(-1);
    if (last !== undefined) {
      bookmark.see({ channelId, lastId: last.id, guildId }, entries.length > 0);
    }
    this.#flushSoon();
  }

  #messageEntries(message: Readonly<Record<string, unknown>>): IntakeEntry<InboundItem>[] {
    const { bookmark, isOwnNonce, onForeign } = this.#deps;
    const { id } = message;
    const isOurs = object(message.author).id === bookmark.identity?.userId;
    const isPlain = (message.type === 0 || message.type === 19) &&
      message.webhook_id === undefined && message.interaction_metadata === undefined;
    if (isOurs && isPlain && isSnowflake(id) && !isOwnNonce(message.nonce)) onForeign(id);
    return this.#read(message);
  }

  /** A preview of a link changes a message as well: that is no edit. */
  #editEntries(message: Readonly<Record<string, unknown>>): IntakeEntry<InboundItem>[] {
    const { edited_timestamp: editedAt } = message;
    const item = typeof editedAt === "string" ? this.#hear(message) : undefined;
    return item === undefined ? [] : [entryOf({ ...item, editedAt: editedAt as string })];
  }

  #read(message: Readonly<Record<string, unknown>>): IntakeEntry<InboundItem>[] {
    const { bookmark } = this.#deps;
    const { id, channel_id: channelId, guild_id: guildId } = message;
    if (bookmark.identity === undefined || !isSnowflake(id) || !isSnowflake(channelId)) return [];
    const item = this.#hear(message);
    // Where one is behind, it is so until its history is read.
    if (!bookmark.knows(channelId) || !this.#history.isBehind(channelId)) {
      const seen = { channelId, lastId: id, ...typeof guildId === "string" && { guildId } };
      bookmark.see(seen, item !== undefined);
    }
    return item === undefined ? [] : [entryOf(item)];
  }

  /** Undefined for what is not for us, or of somebody who isn't listed. */
  #hear(message: Readonly<Record<string, unknown>>): InboundItem | undefined {
    const { bookmark: { identity }, respond, isOwnThread, isAllowed } = this.#deps;
    if (identity === undefined) return undefined;
    const item = readMessage(message, { selfId: identity.userId, respond, isOwnThread });
    const isHeard = item !== undefined && isAllowed({
      senderId: item.senderId,
      senderName: item.senderName,
      ...item.metadata.direct === true && { directChatId: item.chatId },
    });
    return isHeard ? item : undefined;
  }

  /** Until it is on the disk, or the channel stops. */
  async #add(entries: readonly IntakeEntry<InboundItem>[]): Promise<void> {
    this.#isAhead = true;
    await this.#history.keep(async () => {
      await this.#deps.intake.add(entries, this.#cursors());
      this.#isAhead = false;
    });
  }

  #cursors(): Record<string, string> {
    const { bookmark } = this.#deps;
    bookmark.isBehind = this.#history.isBehind();
    return bookmark.cursors();
  }

  #flushSoon(): void {
    this.#cancelFlush ??= this.#deps.clock.after(FLUSH_MS, () => void this.flush());
  }
}

function entryOf(item: InboundItem): IntakeEntry<InboundItem> {
  const { chatId: lane, messageId: id, editedAt } = item;
  return { lane, id, editedAt, data: item };
}

function reasonOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).slice(0, 200);
}
