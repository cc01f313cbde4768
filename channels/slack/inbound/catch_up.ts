/**
 * What was written while the app was not connected: Slack keeps no events for it, so the conversations
 * are read from the time on at which it was there last.
 *
 * @module
 */

import type { Clock } from "../../../lib/base/clock.ts";
import { LoginRefusedError, RetryLaterError } from "../../../lib/channel/delivery_error.ts";
import { sleep } from "../../../lib/channel/platform/mod.ts";
import type { Log } from "../../../lib/base/log.ts";
import { listOf, type SlackAnswer, type SlackApi, textOf } from "../api/slack_api.ts";
import { CONVERSATION, readChatId, timeOfTs, TS, tsOfTime } from "../events/chat_id.ts";

/** What it works with. */
export interface CatchUpDeps {
  api: Pick<SlackApi, "call">;
  clock: Clock;
  log: Pick<Log, "info" | "warning">;
  /** A cursor as it was stored last. */
  cursor: (name: string) => string | undefined;
  /** Takes the messages of a conversation, the oldest first, and its cursors, in one go. */
  add: (messages: readonly unknown[], cursors?: Readonly<Record<string, string>>) => Promise<void>;
  /** Threads that the app takes part in, the newest first. */
  threads: () => readonly string[];
  /** Reads so far back again, what is known to be read as well; milliseconds. */
  lookBackMs?: number;
}

/** Until when everything was read, by our clock, as a `ts`. Moves on when all conversations were read. */
export const SEEN_CURSOR = "seen";

/** When the channel was there for the first time; nothing before that is read. */
const BEGIN_CURSOR = "begin";

/** How far our clock may be from Slack's, seconds. What is read twice is known by its id. */
const SKEW_S = 600;

/** Objects of a page, pages of a conversation, conversations. */
const PAGE = 100;
const MAX_PAGES = 10;
const MAX_CONVERSATIONS = 1_000;

/** How often a call waits for Slack's word before its conversation is left out. */
const MAX_WAITS = 20;

/** How long a call waits that failed in another way, milliseconds. */
const AGAIN_MS = 2_000;

const NOTHING: SlackAnswer = { channels: [], messages: [] };

/**
 * Resolves with whether everything was read; the cursor stands where it was otherwise.
 * Rejects with `LoginRefusedError`.
 */
export async function catchUp(deps: CatchUpDeps, signal: AbortSignal): Promise<boolean> {
  const { cursor, add, clock, log, threads, lookBackMs = 0 } = deps;
  const now = tsOfTime(clock.now());
  // A clock that was ahead has noted times that are still to come.
  const stored = (name: string) => {
    const ts = cursor(name);
    return ts === undefined || Number(ts) <= Number(now) ? ts : earlier(now);
  };
  const [seen, begin] = [stored(SEEN_CURSOR), stored(BEGIN_CURSOR)];
  if (seen === undefined || begin === undefined) {
    await add([], { [BEGIN_CURSOR]: now, [SEEN_CURSOR]: now });
    return true;
  }
  const lookBack = tsOfTime(clock.now() - lookBackMs);
  const since = laterTs(begin, Number(lookBack) < Number(earlier(seen)) ? lookBack : earlier(seen));
  const read = new Reader(deps, signal);
  const conversations = await read.conversations();
  let isWhole = conversations !== undefined;
  for (const { id, type } of conversations ?? []) {
    const name = `read:${id}`;
    const from = lookBackMs > 0 ? since : laterTs(since, earlier(stored(name) ?? "0"));
    const messages = await read.pages("conversations.history", { channel: id }, from);
    if (signal.aborted) return false;
    if (messages === undefined) {
      isWhole = false;
      continue;
    }
    const whole = [...messages];
    // Answers in threads stand in their thread alone.
    for (const { ts, reply_count: count, latest_reply: latest } of messages) {
      if (typeof ts !== "string" || !(Number(count) > 0) || !(Number(latest) >= Number(from))) {
        continue;
      }
      const replies = await read.pages("conversations.replies", { channel: id, ts }, from);
      if (replies === undefined) isWhole = false;
      else whole.push(...replies.filter((one) => one.ts !== ts));
    }
    if (signal.aborted) return false;
    const cursors = isWhole ? { [name]: now } : undefined;
    await add(inOrder(whole, id, type), cursors);
  }
  for (const chatId of threads()) {
    const { channel = "", threadTs: ts = "" } = readChatId(chatId) ?? {};
    if (!CONVERSATION.test(channel) || signal.aborted) continue;
    const type = conversations?.find(({ id }) => id === channel)?.type ?? "";
    const replies = await read.pages("conversations.replies", { channel, ts }, since);
    if (replies === undefined) isWhole = false;
    else await add(inOrder(replies.filter((one) => one.ts !== ts), channel, type));
  }
  if (signal.aborted) return false;
  if (isWhole) await add([], { [SEEN_CURSOR]: now });
  else log.warning("Not all that was written meanwhile could be read");
  return isWhole;
}

/** Reads pages, and waits where Slack says so. */
class Reader {
  readonly #deps: CatchUpDeps;
  readonly #signal: AbortSignal;

  constructor(deps: CatchUpDeps, signal: AbortSignal) {
    this.#deps = deps;
    this.#signal = signal;
  }

  /** Conversations that the app is in, direct ones first; undefined where Slack does not say them. */
  async conversations(): Promise<{ id: string; type: string }[] | undefined> {
    const found: { id: string; type: string }[] = [];
    for (let cursor = "", pages = 0; found.length < MAX_CONVERSATIONS; pages += 1) {
      const answer = await this.#call("users.conversations", {
        types: "im,mpim,private_channel,public_channel",
        exclude_archived: true,
        limit: 200,
        ...cursor !== "" && { cursor },
      });
      if (answer === undefined) return undefined;
      for (const one of listOf(answer, "channels")) {
        const id = textOf(one, "id");
        if (CONVERSATION.test(id)) found.push({ id, type: one.is_im === true ? "im" : "channel" });
      }
      cursor = textOf(answer, "response_metadata", "next_cursor");
      if (cursor === "" || pages >= MAX_PAGES) break;
    }
    return found.sort((a, b) => Number(b.type === "im") - Number(a.type === "im"));
  }

  /** What was written since a time; undefined where it could not be read. */
  async pages(
    method: string,
    args: Readonly<Record<string, string>>,
    oldest: string,
  ): Promise<Record<string, unknown>[] | undefined> {
    const messages: Record<string, unknown>[] = [];
    for (let cursor = "", pages = 0;; pages += 1) {
      if (pages >= MAX_PAGES) {
        this.#deps.log.warning("More was written meanwhile than is read", { chat: args.channel });
        return messages;
      }
      const answer = await this.#call(method, {
        ...args,
        oldest,
        limit: PAGE,
        ...cursor !== "" && { cursor },
      });
      if (answer === undefined) return undefined;
      messages.push(
        ...listOf(answer, "messages").filter(({ ts }) =>
          typeof ts === "string" && TS.test(ts) && timeOfTs(ts) >= timeOfTs(oldest)
        ),
      );
      cursor = answer.has_more === true ? textOf(answer, "response_metadata", "next_cursor") : "";
      if (cursor === "") return messages;
    }
  }

  async #call(
    method: string,
    args: Readonly<Record<string, unknown>>,
  ): Promise<SlackAnswer | undefined> {
    const { api, clock, log } = this.#deps;
    for (let waits = 0;; waits += 1) {
      try {
        return await api.call(method, args);
      } catch (error) {
        if (this.#signal.aborted) return undefined;
        if (error instanceof LoginRefusedError) throw error;
        const isPermanent = (error as Error).name === "PermanentDeliveryError";
        if (isPermanent || waits >= MAX_WAITS) {
          log.warning("What was written meanwhile could not be read", {
            chat: String(args.channel ?? ""),
            reason: (error as Error).message,
          });
          // What Slack does not give will not be there the next time either.
          return isPermanent ? NOTHING : undefined;
        }
        const waitMs = error instanceof RetryLaterError ? error.retryAfterMs : AGAIN_MS;
        await sleep(waitMs, clock, this.#signal);
      }
    }
  }
}

function laterTs(a: string, b: string): string {
  return Number(b) > Number(a) ? b : a;
}

function earlier(ts: string): string {
  return tsOfTime(timeOfTs(ts) - SKEW_S * 1_000);
}

/** As events of their conversation: the oldest first, each once. */
function inOrder(
  messages: readonly Record<string, unknown>[],
  channel: string,
  type: string,
): Record<string, unknown>[] {
  const byTs = new Map(messages.map((message) => [message.ts, message]));
  return [...byTs.values()].sort((a, b) => Number(a.ts) - Number(b.ts))
    .map((message) => ({ ...message, channel, channel_type: type }));
}
