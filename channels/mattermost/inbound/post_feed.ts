/**
 * Posts in their order, from the socket and, behind a gap, from the lists of the channels: each once, and
 * on the disk before the next is looked at. What a cursor says of a channel has been looked at.
 *
 * @module
 */

import type { Clock } from "../../../lib/base/clock.ts";
import { LoginRefusedError, UncertainDeliveryError } from "../../../lib/channel/delivery_error.ts";
import {
  backoffMs,
  failedCall,
  type Intake,
  type IntakeEntry,
  noAnswer,
  pauseOf,
  sleep,
} from "../../../lib/channel/platform/mod.ts";
import { Tries } from "../../../lib/channel/platform/tries.ts";
import type { Log } from "../../../lib/base/log.ts";
import type { MattermostClient } from "../api/mattermost_client.ts";
import type { HeardPost } from "./heard_post.ts";
import { type MissedChannel, missedPosts } from "./missed_posts.ts";
import { type PostCursor, PostCursors } from "./post_cursors.ts";
import { isId, type MattermostPost, readPost } from "./post.ts";

/** What is known of a post beside itself. */
export interface AboutPost {
  /** Nobody else is in the channel. */
  isDirect: boolean;
  /** It was written just now. */
  isLive: boolean;
  /** It came before, and was edited or deleted just now. */
  isChange: boolean;
}

/** What a feed works with. */
export interface PostFeedDeps {
  client: MattermostClient;
  /** Our own user id: what another bot has looked at is not ours. */
  myId: string;
  intake: Pick<Intake<HeardPost>, "add" | "cursor">;
  /** The post as it is heard; undefined for one that is not. */
  hear: (post: MattermostPost, about: AboutPost) => HeardPost | undefined;
  /** Whether a channel of that team is listened to; empty: of no team. */
  isOfTeam: (teamId: string) => boolean;
  clock: Pick<Clock, "after" | "now">;
  log: Pick<Log, "warning">;
}

/** A channel that the bot is in. */
interface ListedChannel {
  id: string;
  type: string;
  teamId: string;
  lastPostAt: number;
}

/** Failures of one channel's list, some minutes of them, before the others wait for it no more. */
const CHANNEL_TRIES = 8;

/** Posts that may wait; past that they are fetched later. */
const MAX_WAITING = 1_000;
/** Ids of posts that were looked at. */
const MAX_SEEN = 4_000;
/** Posts that come to the disk together. */
const MAX_TOGETHER = 100;

interface LivePost {
  post: MattermostPost;
  isChange: boolean;
  senderName?: string;
}

export class PostFeed {
  readonly #deps: PostFeedDeps;
  /** Cursor over all channels: what was created up to it has been looked at. */
  readonly #all: string;
  readonly #waiting: (LivePost | "catch_up")[] = [];
  readonly #seen = new Set<string>();
  /** Whether a channel is a direct one; of those alone something was heard. */
  readonly #channels = new Map<string, boolean>();
  readonly #cursors: PostCursors;
  readonly #tries = new Tries(CHANNEL_TRIES);
  #isBehind = false;
  readonly #closing = new AbortController();
  #working: Promise<void> | undefined;

  constructor(deps: PostFeedDeps) {
    this.#deps = deps;
    this.#all = `* ${deps.myId}`;
    this.#cursors = new PostCursors(deps.intake);
  }

  /**
   * Has to be done before the first connection: what is written from here on is looked at, if not in this
   * run then in a later one. Rejects as a request does.
   */
  async begin(): Promise<void> {
    if (this.#cursors.get(this.#all) !== undefined) return;
    const newest = newestOf(await this.#listChannels());
    // In no channel there is none of the server's times. Else between the newest post and all later ones:
    // posts of the cursor's own time are looked at.
    const createAt = newest === 0 ? this.#deps.clock.now() : newest + 0.5;
    await this.#add([], { [this.#all]: { createAt } });
  }

  /** An event; one that is not of a post, or cannot be read, is left out. */
  take(event: string, data: Readonly<Record<string, unknown>>): void {
    const post = postOf(event, data);
    if (post === undefined || this.#closing.signal.aborted || this.#isBehind) return;
    if (typeof data.team_id === "string" && !this.#deps.isOfTeam(data.team_id)) return;
    const { sender_name: name } = data;
    if (this.#waiting.length >= MAX_WAITING) {
      this.#isBehind = true;
      return;
    }
    const isChange = event !== "posted";
    // Events of changes do not say it.
    if (!isChange) this.#channels.set(post.channelId, data.channel_type === "D");
    this.#waiting.push({
      post,
      isChange,
      ...typeof name === "string" && { senderName: name.replace(/^@/, "").slice(0, 200) },
    });
    this.#work();
  }

  /** Events were missed, or may have been: they are fetched before those that come from now on. */
  catchUp(): void {
    if (this.#closing.signal.aborted) return;
    // One that has begun may have looked already at where something is missing now.
    if (this.#waiting.length > 1 && this.#waiting.at(-1) === "catch_up") return;
    this.#waiting.push("catch_up");
    this.#work();
  }

  /** Keeps what was looked at, and takes nothing any more. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#waiting.length = 0;
    await this.#working;
    await this.#add([]).catch(() => {});
  }

  #work(): void {
    this.#working ??= this.#run().finally(() => {
      this.#working = undefined;
      if (this.#waiting.length > 0) this.#work();
    });
  }

  /** Takes one after the other. Never rejects. */
  async #run(): Promise<void> {
    for (let failures = 0; !this.#closing.signal.aborted;) {
      const next = this.#waiting[0];
      if (next === undefined) {
        if (!this.#isBehind) return;
        // From here on events are waited for again; what was left out comes from the lists.
        this.#isBehind = false;
        this.#waiting.push("catch_up");
        continue;
      }
      try {
        const live = this.#nextLive();
        await (next === "catch_up" ? this.#fetchMissed() : this.#takeLive(live));
        failures = 0;
        this.#waiting.splice(0, Math.max(1, live.length));
      } catch (error) {
        if (this.#closing.signal.aborted) return;
        // The start ends with it.
        if (error instanceof LoginRefusedError) return void this.#waiting.shift();
        if ((error as { code?: unknown }).code === "invalid_request") {
          // It would be the same each time.
          this.#deps.log.warning("Messages cannot be taken, and are dropped", {
            reason: (error as Error).message,
          });
          this.#waiting.splice(0, Math.max(1, this.#nextLive().length));
          continue;
        }
        const waitMs = Math.max(pauseOf(error), backoffMs(failures += 1));
        this.#deps.log.warning("Messages could not be fetched, and are tried again", {
          reason: error instanceof Error ? error.message : String(error),
          waitMs,
        });
        await sleep(waitMs, this.#deps.clock, this.#closing.signal);
      }
    }
  }

  /** Those that wait up to the next list, or none. */
  #nextLive(): LivePost[] {
    const live: LivePost[] = [];
    for (const each of this.#waiting) {
      if (each === "catch_up" || live.length === MAX_TOGETHER) break;
      live.push(each);
    }
    return live;
  }

  async #takeLive(live: readonly LivePost[]): Promise<void> {
    const posted = live.filter(({ isChange }) => !isChange).map(({ post }) => post);
    const entries = live.flatMap(({ post, isChange, senderName }) => {
      const isDirect = this.#channels.get(post.channelId);
      const isAgain = !isChange && posted.find(({ id }) => id === post.id) !== post;
      if (isDirect === undefined || isAgain) return [];
      return this.#entryOf(post, { isDirect, isChange, isLive: !isChange }, senderName) ?? [];
    });
    const cursors: Record<string, PostCursor> = {};
    for (const post of posted) cursors[post.channelId] = cursors[this.#all] = post;
    // What nobody has to answer is not worth a write.
    if (entries.length > 0) await this.#add(entries, cursors);
    else this.#cursors.move(cursors);
    for (const { id } of posted) this.#see(id);
  }

  async #fetchMissed(): Promise<void> {
    const channels = await this.#listChannels();
    const sinceAll = this.#cursors.get(this.#all)!;
    for (const { id, type, lastPostAt } of channels) {
      const since = this.#cursors.get(id) ?? { createAt: sinceAll.createAt };
      if (lastPostAt <= since.createAt) continue;
      await this.#fetchChannel({ id, since, isDirect: type === "D" });
      // What was not looked at is looked at after the next start.
      if (this.#closing.signal.aborted) return;
    }
    await this.#add([], { [this.#all]: { createAt: newestOf(channels) } });
  }

  async #listChannels(): Promise<ListedChannel[]> {
    const { client, isOfTeam } = this.#deps;
    const channels = readChannels(await client.getAllTeamsChannels())
      .filter(({ teamId }) => isOfTeam(teamId));
    for (const { id, type } of channels) this.#channels.set(id, type === "D");
    return channels;
  }

  async #fetchChannel(channel: MissedChannel & { isDirect: boolean }): Promise<void> {
    const { client, log } = this.#deps;
    const missed = await missedPosts(client, channel).catch((error) => {
      // Such as one that the bot was taken out of meanwhile: the others do not wait for it.
      const isLeft = isRefused(error) || (isBroken(error) && this.#tries.isLast(channel.id));
      if (!isLeft) throw error;
      log.warning("A channel cannot be read, and is left alone", {
        channel: channel.id,
        reason: (error as Error).message,
      });
      return undefined;
    });
    // What was not looked at there is looked at the next time, wherever the others are by then.
    if (missed === undefined) return await this.#add([], { [channel.id]: channel.since });
    this.#tries.forget(channel.id);
    const { posts, isWhole } = missed;
    if (!isWhole) {
      log.warning("More was written than is fetched; the oldest of it is left alone", {
        channel: channel.id,
        fetched: posts.length,
      });
    }
    const about = { isDirect: channel.isDirect, isLive: false, isChange: false };
    const entries = posts.flatMap((post) => this.#entryOf(post, about) ?? []);
    await this.#add(entries, { [channel.id]: posts.at(-1) ?? channel.since });
    for (const { id } of posts) this.#see(id);
  }

  #entryOf(
    post: MattermostPost,
    about: AboutPost,
    senderName?: string,
  ): IntakeEntry<HeardPost> | undefined {
    if (!about.isChange && this.#seen.has(post.id)) return undefined;
    const heard = this.#deps.hear(post, about);
    if (heard === undefined) return undefined;
    const data = { ...heard, ...senderName !== undefined && { senderName } };
    return { lane: heard.chatId, id: heard.id, editedAt: heard.editedAt, data };
  }

  async #add(
    entries: readonly IntakeEntry<HeardPost>[],
    cursors: Readonly<Record<string, PostCursor>> = {},
  ): Promise<void> {
    await this.#deps.intake.add(entries, this.#cursors.with(cursors));
    this.#cursors.stored();
  }

  #see(id: string): void {
    this.#seen.add(id);
    if (this.#seen.size > MAX_SEEN) this.#seen.delete(this.#seen.values().next().value!);
  }
}

/** The post of an event; of one that was deleted, without what it said. */
function postOf(
  event: string,
  data: Readonly<Record<string, unknown>>,
): MattermostPost | undefined {
  const post = readPost(data.post);
  switch (event) {
    case "posted":
      return post;
    case "post_edited":
      // What is pinned, say, was not edited.
      return post?.editAt === 0 ? undefined : post;
    case "post_deleted":
      return post && { ...post, message: "", files: [], deleteAt: 0, editAt: Infinity };
  }
}

/** When the last post of them was written; 0 for none. */
function newestOf(channels: readonly ListedChannel[]): number {
  return channels.reduce((ms, { lastPostAt }) => Math.max(ms, lastPostAt), 0);
}

/** A refusal that no repeat mends. */
function isRefused(error: unknown): boolean {
  return [400, 403, 404, 410, 501].includes(failedCall(error)?.status ?? 0);
}

/** Something of the channel itself may be what the server stumbles over. */
function isBroken(error: unknown): boolean {
  const { status = 0 } = failedCall(error) ?? {};
  return error instanceof UncertainDeliveryError || status > 0 && ![401, 429].includes(status);
}

/** Those of a list that can be looked at. Throws for what is no list. */
function readChannels(list: unknown): ListedChannel[] {
  if (!Array.isArray(list)) {
    throw noAnswer("The server's answer is no list of channels");
  }
  return list.flatMap((each) => {
    const { id, type, team_id, delete_at, last_post_at } = (each ?? {}) as Record<string, unknown>;
    if (!isId(id) || typeof last_post_at !== "number" || Number(delete_at) > 0) return [];
    const teamId = typeof team_id === "string" ? team_id : "";
    return [{ id, type: String(type), teamId, lastPostAt: last_post_at }];
  });
}
