/**
 * Posts messages: each once, also when nobody said that it was taken, and marked so that a post of ours is
 * known from one that another program makes with our token.
 *
 * @module
 */

import { createHash } from "node:crypto";
import type { Memory } from "../../../lib/channel/platform/memory.ts";
import { UncertainDeliveryError } from "../../../lib/channel/delivery_error.ts";
import { ApiError, toDeliveryError } from "../api/api_error.ts";
import type { MattermostClient } from "../api/mattermost_client.ts";
import type { ChatAddress } from "../chat_address.ts";
import { isId } from "../inbound/post.ts";
import type { MattermostPost } from "../inbound/post.ts";

/** What posts are made with. */
export interface PosterDeps {
  client: MattermostClient;
  /** Our own user id. */
  myId: string;
  memory: Pick<Memory, "get" | "set">;
}

/** A post to be made. */
export interface NewPost {
  address: ChatAddress;
  /** Of the message, the same at every attempt. */
  messageId: string;
  /** Which part of it. */
  part: number;
  text: string;
  fileIds?: readonly string[];
  props?: Readonly<Record<string, unknown>>;
  /** Nobody is to be notified. */
  isQuiet?: boolean;
}

/** Property of a post that says whose it is. */
const MARK = "service_message";

/** Newest posts of a channel among which one is looked for that may have been taken. */
const LOOKED_AT = 60;

export class Poster {
  readonly #deps: PosterDeps;
  /** Of this channel's folder, so that it outlives restarts. */
  readonly #origin: string;

  constructor(deps: PosterDeps) {
    this.#deps = deps;
    const kept = deps.memory.get<string>("origin", "");
    this.#origin = kept ?? crypto.randomUUID().slice(0, 8);
    if (kept === undefined) deps.memory.set("origin", "", this.#origin);
  }

  /** Makes a post. Resolves with its id; rejects as `send` does. */
  async post(post: NewPost): Promise<string> {
    const { address: { channelId, rootId }, messageId, part, text, fileIds, props, isQuiet } = post;
    const key = `${this.#origin}.${messageId}.${part}.${digestOf(text)}`;
    const body = {
      channel_id: channelId,
      root_id: rootId,
      message: text,
      // The server knows it for half a minute, and makes no second post then.
      pending_post_id: `${this.#deps.myId}:${key}`,
      props: { ...props, [MARK]: key },
      ...fileIds !== undefined && fileIds.length > 0 && { file_ids: [...fileIds] },
    } as Parameters<MattermostClient["createPost"]>[0];
    const { client } = this.#deps;
    let id: unknown;
    let failure: unknown = new UncertainDeliveryError("The server's answer to a post has no id");
    try {
      const made =
        await (isQuiet === true ? client.createQuietPost(body) : client.createPost(body));
      id = made?.id;
    } catch (error) {
      if (error instanceof ApiError) failure = toDeliveryError(error);
      if (!mayBeTaken(error, failure)) throw failure;
    }
    if (!isId(id)) id = await this.#find(channelId, key);
    if (!isId(id)) throw failure;
    this.#follow(rootId !== "" ? rootId : id);
    return id;
  }

  /** Gives a post another text. Rejects as `send` does; a repeat does no harm. */
  async edit(
    postId: string,
    text: string,
    props?: Readonly<Record<string, unknown>>,
  ): Promise<void> {
    const patch = {
      id: postId,
      message: text,
      ...props !== undefined && { props: { ...props, [MARK]: `${this.#origin}.${postId}` } },
    } as Parameters<MattermostClient["patchPost"]>[0];
    try {
      await this.#deps.client.patchPost(patch);
    } catch (error) {
      throw toDeliveryError(error, true);
    }
  }

  /** Whether a post of our account was made here; `undefined` for one of somebody else. */
  isOurs({ userId, props }: MattermostPost): boolean | undefined {
    if (userId !== this.#deps.myId) return undefined;
    const mark = props[MARK];
    return typeof mark === "string" && mark.startsWith(`${this.#origin}.`);
  }

  /** Whether we have written in a thread, or begun it. */
  isInThread(rootId: string): boolean {
    return this.#deps.memory.get("thread", rootId) !== undefined;
  }

  #follow(rootId: string): void {
    if (!this.isInThread(rootId)) this.#deps.memory.set("thread", rootId, 1);
  }

  /** The post that was taken though nobody said so; undefined where there is none, or nobody says it. */
  async #find(channelId: string, key: string): Promise<string | undefined> {
    try {
      const { posts } = await this.#deps.client.getPosts(channelId, 0, LOOKED_AT, false);
      return Object.values(posts).find(({ user_id, props }) =>
        user_id === this.#deps.myId && (props as Record<string, unknown> | null)?.[MARK] === key
      )?.id;
    } catch {
      return undefined;
    }
  }
}

/** Whether a post may have been made though nobody said so. */
function mayBeTaken(error: unknown, failure: unknown): boolean {
  // The package looks into the answer to a post, and finds no post in it.
  if (!(error instanceof ApiError)) return true;
  // A server that stumbles over what comes behind the post has it by then.
  return error.status >= 500 || failure instanceof UncertainDeliveryError ||
    error.id.startsWith("api.post.deduplicate_create_post");
}

/** Tells a text from another that is given the same id. */
function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}
