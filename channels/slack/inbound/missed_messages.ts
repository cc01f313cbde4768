/**
 * What Slack has not told: it keeps no events for an app that is not there, gives up those that cannot be
 * stored, and leaves out what is too much.
 *
 * @module
 */

import type { ChannelHost } from "../../../lib/channel/channel_host.ts";
import { CatchUp, type ChatPage, readHistory } from "../../../lib/channel/platform/mod.ts";
import { listOf, type SlackAnswer, type SlackApi, textOf } from "../api/slack_api.ts";
import {
  chatIdOf,
  CONVERSATION,
  readChatId,
  type SlackPlace,
  timeOfTs,
  TS,
  tsOfTime,
} from "../events/chat_id.ts";

/** What it works with. */
export interface MissedMessagesDeps {
  api: Pick<SlackApi, "call">;
  host: Pick<ChannelHost, "clock" | "log">;
  /** A cursor as it was stored last. */
  cursor: (name: string) => string | undefined;
  /** Takes the messages of a conversation, the oldest first, and cursors, in one go. */
  add: (messages: readonly unknown[], cursors?: Readonly<Record<string, string>>) => Promise<void>;
  /** Threads that the app takes part in, the newest first. */
  threads: () => readonly string[];
  /** Whether Slack tells what happens now. */
  isConnected: () => boolean;
}

/** A conversation, or a thread of one. */
interface SlackChat extends SlackPlace {
  id: string;
  type: string;
  /** `ts` from which on it is read. */
  since: string;
}

/** A message as Slack gives it. */
type SlackEvent = Record<string, unknown> & { ts: string };

/** Until when everything was read, by our clock, as a `ts`; and when the channel was there first. */
const SEEN_CURSOR = "seen";
const BEGIN_CURSOR = "begin";

/** How far our clock may be from Slack's, milliseconds. What is read twice is known by its id. */
const SKEW_MS = 600_000;

/** Messages of a page. */
const PAGE = 100;

/** How often it is noted that we are there, milliseconds. */
const SEEN_EVERY_MS = 30_000;

/** How far back is read where Slack has left something out, and how soon and how often, milliseconds. */
const LOOK_BACK_MS = 3_600_000;
const LOOK_BACK_AFTER_MS = 60_000;
const LOOK_BACK_EVERY_MS = 600_000;

export class MissedMessages {
  readonly #deps: MissedMessagesDeps;
  readonly #history: CatchUp<SlackChat, SlackEvent>;
  #cancelSeen = () => {};
  #cancelBack: (() => void) | undefined;
  #lookedBackMs = -Infinity;
  #lookBackMs = 0;
  /** When the conversations were listed, by our clock. */
  #listed = "";

  constructor(deps: MissedMessagesDeps) {
    this.#deps = deps;
    this.#history = new CatchUp({
      chats: () => this.#chats(),
      page: (chat, next) => this.#page(chat, next),
      keyOf: ({ ts }) => ({ id: ts, at: Number(ts) }),
      take: ({ channel, type }, events) =>
        deps.add(events.map((event) => ({ ...event, channel, channel_type: type }))),
      done: () => deps.add([], { [SEEN_CURSOR]: this.#listed }),
      ...deps.host,
    });
  }

  /** Notes from time to time that nothing before was missed. */
  noteSeen(): void {
    const { host: { clock }, add, isConnected } = this.#deps;
    this.#cancelSeen = clock.after(SEEN_EVERY_MS, () => {
      if (isConnected() && !this.#history.isBehind()) {
        add([], { [SEEN_CURSOR]: tsOfTime(clock.now()) }).catch(() => {});
      }
      this.noteSeen();
    });
  }

  /** Reads what was written while we were away. */
  read(): void {
    void this.#history.read();
  }

  /** Reads after a while what could not be taken. */
  readAgain(): void {
    this.#history.readLater();
  }

  /** Slack has left something out, and does so for a while: the last hour is read again behind that. */
  lookBack(): void {
    if (this.#cancelBack !== undefined) return;
    const { clock, log } = this.#deps.host;
    const leastMs = this.#lookedBackMs + LOOK_BACK_EVERY_MS - clock.elapsed();
    this.#cancelBack = clock.after(Math.max(LOOK_BACK_AFTER_MS, leastMs), () => {
      this.#cancelBack = undefined;
      this.#lookedBackMs = clock.elapsed();
      this.#lookBackMs = LOOK_BACK_MS;
      log.info("Slack has left something out, and the last hour is read again");
      this.read();
    });
  }

  async close(): Promise<void> {
    this.#cancelSeen();
    this.#cancelBack?.();
    await this.#history.close();
  }

  /** Conversations that the app is in, direct ones first, and threads. */
  async #chats(): Promise<SlackChat[]> {
    const { api, add, host: { clock }, cursor, threads } = this.#deps;
    const nowMs = clock.now();
    this.#listed = tsOfTime(nowMs);
    // A clock that was ahead has noted times that are still to come.
    const stored = (name: string, behindMs: number) => {
      const ts = cursor(name);
      return ts && (timeOfTs(ts) <= nowMs ? timeOfTs(ts) - behindMs : nowMs - SKEW_MS);
    };
    const [seenMs, beginMs] = [stored(SEEN_CURSOR, SKEW_MS), stored(BEGIN_CURSOR, 0)];
    if (!seenMs || !beginMs) {
      await add([], { [BEGIN_CURSOR]: this.#listed });
      return [];
    }
    const since = tsOfTime(Math.max(beginMs, Math.min(seenMs, nowMs - this.#lookBackMs)));
    const { pages } = await readHistory(async (cursor) => {
      const answer = await api.call("users.conversations", {
        types: "im,mpim,private_channel,public_channel",
        exclude_archived: true,
        limit: 200,
        ...cursor !== undefined && { cursor },
      });
      return { events: listOf(answer, "channels"), ...nextOf(answer) };
    });
    const found = pages.flatMap(({ events }) => events).flatMap((one): SlackChat[] => {
      const [id, type] = [textOf(one, "id"), one.is_im === true ? "im" : "channel"];
      return CONVERSATION.test(id) ? [{ id, channel: id, type, since }] : [];
    });
    this.#lookBackMs = 0;
    found.sort((a, b) => Number(b.type === "im") - Number(a.type === "im"));
    const taken = threads().map((id) => ({ id, channel: "", ...readChatId(id) }))
      .filter(({ channel }) => CONVERSATION.test(channel))
      .map((thread) => {
        const { type = "" } = found.find(({ id }) => id === thread.channel) ?? {};
        return { ...thread, type, since };
      });
    return [...found, ...taken];
  }

  async #page(chat: SlackChat, next?: string): Promise<ChatPage<SlackChat, SlackEvent>> {
    const { channel, threadTs, type, since } = chat;
    const isThread = threadTs !== undefined;
    const answer = await this.#deps.api.call(
      isThread ? "conversations.replies" : "conversations.history",
      {
        channel,
        oldest: since,
        limit: PAGE,
        ...isThread && { ts: threadTs },
        ...next !== undefined && { cursor: next },
      },
    );
    const events = listOf(answer, "messages").filter((event): event is SlackEvent =>
      typeof event.ts === "string" && TS.test(event.ts) && timeOfTs(event.ts) >= timeOfTs(since) &&
      event.ts !== threadTs
    );
    // Answers in threads stand in their thread alone.
    const begun = events.filter(({ reply_count: count, latest_reply: latest }) =>
      !isThread && Number(count) > 0 && Number(latest) >= Number(since)
    );
    return {
      events,
      ...answer.has_more === true && nextOf(answer),
      chats: begun.map(({ ts }) => ({
        ...{ id: chatIdOf({ channel, threadTs: ts }), channel, threadTs: ts, type, since },
      })),
    };
  }
}

/** By which the next page is asked for, if there is one. */
function nextOf(answer: SlackAnswer): { next?: string } {
  const next = textOf(answer, "response_metadata", "next_cursor");
  return next === "" ? {} : { next };
}
