/**
 * Posts in their order, from the socket and, behind a gap, from the lists of the channels: each once, and
 * on the disk before the next is looked at. What a cursor says of a channel has been looked at.
 *
 * @module
 */

import type { Clock } from "../../../lib/base/clock.ts";
import {
  CatchUp,
  type ChatPage,
  type Intake,
  type IntakeEntry,
} from "../../../lib/channel/platform/mod.ts";
import type { Log } from "../../../lib/base/log.ts";
import type { MattermostClient } from "../api/mattermost_client.ts";
import type { HeardPost } from "./heard_post.ts";
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
  log: Pick<Log, "info" | "warning">;
}

/** A channel that the bot is in. */
interface ListedChannel {
  id: string;
  /** Nobody else is in it. */
  isDirect: boolean;
  teamId: string;
  lastPostAt: number;
}

/** How far one was looked at. */
interface PostCursor {
  /** Milliseconds since 1970, by the server's clock. */
  createAt: number;
  /** The post that was the last. */
  id?: string;
}

/** One in which something was missed. */
interface MissedChannel extends ListedChannel {
  since: PostCursor;
}

/** Posts of a page of a channel's list. */
const PAGE_SIZE = 200;

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
  readonly #waiting: LivePost[] = [];
  readonly #seen = new Set<string>();
  /** Whether a channel is a direct one; of those alone something was heard. */
  readonly #channels = new Map<string, boolean>();
  /** Cursors that are ahead of the disk: what nobody has to answer is not worth a write. */
  readonly #ahead = new Map<string, string>();
  readonly #history: CatchUp<MissedChannel, MattermostPost>;
  readonly #closing = new AbortController();
  /** When the last post was written before the channels were listed. */
  #newest = 0;
  /** More came than may wait, and was left out. */
  #isFull = false;
  #working: Promise<void> | undefined;

  constructor(deps: PostFeedDeps) {
    this.#deps = deps;
    this.#all = `* ${deps.myId}`;
    this.#history = new CatchUp({
      chats: () => this.#missedChannels(),
      page: (channel, next) => this.#page(channel, Number(next ?? 0)),
      keyOf: ({ id, createAt }) => ({ id, at: createAt }),
      take: (channel, posts) => this.#takeMissed(channel, posts),
      // What was not looked at there is looked at the next time, wherever the others are by then.
      refused: ({ id, since }) => this.#move({ [id]: since }),
      done: () => this.#add([], { [this.#all]: { createAt: this.#newest } }),
      ...deps,
    });
  }

  /**
   * Has to be done before the first connection: what is written from here on is looked at, if not in this
   * run then in a later one. Rejects as a request does.
   */
  async begin(): Promise<void> {
    if (this.#cursor(this.#all) !== undefined) return;
    const newest = newestOf(await this.#listChannels());
    // In no channel there is none of the server's times. Else between the newest post and all later ones:
    // posts of the cursor's own time are looked at.
    const createAt = newest === 0 ? this.#deps.clock.now() : newest + 0.5;
    await this.#add([], { [this.#all]: { createAt } });
  }

  /** An event; one that is not of a post, or cannot be read, is left out. */
  take(event: string, data: Readonly<Record<string, unknown>>): void {
    const post = postOf(event, data);
    if (post === undefined || this.#closing.signal.aborted || this.#isFull) return;
    if (typeof data.team_id === "string" && !this.#deps.isOfTeam(data.team_id)) return;
    const { sender_name: name } = data;
    if (this.#waiting.length >= MAX_WAITING) {
      this.#isFull = true;
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
    this.#working ??= this.#work();
  }

  /** Events were missed, or may have been: they are fetched before those that come from now on. */
  catchUp(): void {
    void this.#history.read();
  }

  /** Keeps what was looked at, and takes nothing any more. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#history.close();
    await this.#working;
    await this.#add([]).catch(() => {});
  }

  /** Takes what waits, in its order. Never rejects. */
  async #work(): Promise<void> {
    while (this.#waiting.length > 0 && !this.#closing.signal.aborted) {
      const live = this.#waiting.slice(0, MAX_TOGETHER);
      await this.#history.keep(() => this.#takeLive(live));
      this.#waiting.splice(0, live.length);
    }
    this.#working = undefined;
    if (!this.#isFull) return;
    // From here on events are waited for again; what was left out comes from the lists.
    this.#isFull = false;
    this.catchUp();
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
    for (const post of posted) {
      if (!this.#history.isBehind(post.channelId)) cursors[post.channelId] = post;
      if (!this.#history.isBehind()) cursors[this.#all] = post;
    }
    if (entries.length > 0) await this.#add(entries, cursors);
    else this.#move(cursors);
    for (const { id } of posted) this.#see(id);
  }

  async #listChannels(): Promise<ListedChannel[]> {
    const { client, isOfTeam } = this.#deps;
    const channels = readChannels(await client.getAllTeamsChannels())
      .filter(({ teamId }) => isOfTeam(teamId));
    for (const { id, isDirect } of channels) this.#channels.set(id, isDirect);
    return channels;
  }

  async #missedChannels(): Promise<MissedChannel[]> {
    const channels = await this.#listChannels();
    this.#newest = newestOf(channels);
    const { createAt } = this.#cursor(this.#all)!;
    return channels
      .map((channel) => ({ ...channel, since: this.#cursor(channel.id) ?? { createAt } }))
      .filter(({ since, lastPostAt }) => lastPostAt > since.createAt);
  }

  /** The newest first. The server's own `since` gives what was edited too, and of more than 1,000 any. */
  async #page(
    { id, since }: MissedChannel,
    page: number,
  ): Promise<ChatPage<never, MattermostPost>> {
    const { order, posts } = readPage(
      await this.#deps.client.getPosts(id, page, PAGE_SIZE, false),
    );
    const found = order.map((postId) => readPost(posts[String(postId)]))
      .filter((post) => post?.channelId === id) as MattermostPost[];
    // Two posts may have the same time, and one of them have been heard.
    const events = found.filter((post) => post.createAt >= since.createAt && post.id !== since.id);
    const isLast = order.length < PAGE_SIZE || found.some((post) => post.createAt < since.createAt);
    return { events, ...!isLast && { next: String(page + 1) } };
  }

  async #takeMissed(channel: MissedChannel, posts: readonly MattermostPost[]): Promise<void> {
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
    const moved = this.#with(cursors);
    await this.#deps.intake.add(entries, Object.fromEntries(moved));
    for (const [name, place] of moved) {
      if (this.#ahead.get(name) === place) this.#ahead.delete(name);
    }
  }

  /** That of a channel, or over all; undefined before anything was looked at. */
  #cursor(name: string): PostCursor | undefined {
    const place = this.#ahead.get(name) ?? this.#deps.intake.cursor(name);
    if (place === undefined) return undefined;
    const [ms, id] = place.split(" ");
    return { createAt: Number(ms), ...id !== undefined && { id } };
  }

  /** Those that are ahead of the disk, and these where they are further. */
  #with(cursors: Readonly<Record<string, PostCursor>>): Map<string, string> {
    const moved = new Map(this.#ahead);
    for (const [name, { createAt, id }] of Object.entries(cursors)) {
      if (createAt < (this.#cursor(name)?.createAt ?? 0)) continue;
      moved.set(name, id === undefined ? `${createAt}` : `${createAt} ${id}`);
    }
    return moved;
  }

  #move(cursors: Readonly<Record<string, PostCursor>>): void {
    for (const [name, place] of this.#with(cursors)) this.#ahead.set(name, place);
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

/** Those of a list that can be looked at. Throws for what is no list. */
function readChannels(list: unknown): ListedChannel[] {
  if (!Array.isArray(list)) throw new Error("The server's answer is no list of channels");
  return list.flatMap((each) => {
    const { id, type, team_id, delete_at, last_post_at } = (each ?? {}) as Record<string, unknown>;
    if (!isId(id) || typeof last_post_at !== "number" || Number(delete_at) > 0) return [];
    const teamId = typeof team_id === "string" ? team_id : "";
    return [{ id, isDirect: type === "D", teamId, lastPostAt: last_post_at }];
  });
}

/** The parts of a page. Throws for what is none: it does not say that nothing was missed. */
function readPage(page: unknown): { order: unknown[]; posts: Record<string, unknown> } {
  const { order, posts } = (page ?? {}) as { order?: unknown; posts?: unknown };
  // Of a channel without posts there is an empty list, and maybe no posts beside it.
  if (
    Array.isArray(order) && (order.length === 0 || (typeof posts === "object" && posts !== null))
  ) {
    return { order, posts: (posts ?? {}) as Record<string, unknown> };
  }
  throw new Error("The server's answer is no list of posts");
}
