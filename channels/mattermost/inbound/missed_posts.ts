/**
 * What was written in a channel since a time, from the pages of its list: the server's own `since` gives
 * what was edited too, and of more than 1,000 any.
 *
 * @module
 */

import { noAnswer } from "../../../lib/channel/platform/mod.ts";
import type { MattermostClient } from "../api/mattermost_client.ts";
import type { PostCursor } from "./post_cursors.ts";
import { type MattermostPost, readPost } from "./post.ts";

/** A channel in which something was missed. */
export interface MissedChannel {
  id: string;
  since: PostCursor;
}

const PAGE_SIZE = 200;
const MAX_PAGES = 5;

/**
 * The oldest first. `isWhole`: there are no older ones that were not fetched. Rejects as a call does, also
 * for an answer that is no page: it does not say that nothing was missed.
 */
export async function missedPosts(
  client: Pick<MattermostClient, "getPosts">,
  { id, since }: MissedChannel,
): Promise<{ posts: MattermostPost[]; isWhole: boolean }> {
  const found = new Map<string, MattermostPost>();
  let isWhole = false;
  for (let page = 0; page < MAX_PAGES && !isWhole; page++) {
    const { order, posts } = readPage(await client.getPosts(id, page, PAGE_SIZE, false));
    // What is written meanwhile moves posts to the next page, where they are found again.
    for (const postId of order) {
      const post = readPost(posts[String(postId)]);
      if (post === undefined || post.channelId !== id) continue;
      // Two posts may have the same time, and one of them have been heard.
      if (post.createAt < since.createAt) isWhole = true;
      else if (post.id !== since.id) found.set(post.id, post);
    }
    if (order.length < PAGE_SIZE) isWhole = true;
  }
  const posts = [...found.values()].sort((one, other) => one.createAt - other.createAt);
  return { posts, isWhole };
}

/** Its parts. */
function readPage(page: unknown): { order: unknown[]; posts: Record<string, unknown> } {
  const { order, posts } = (page ?? {}) as { order?: unknown; posts?: unknown };
  // Of a channel without posts there is an empty list, and maybe no posts beside it.
  if (
    Array.isArray(order) && (order.length === 0 || (typeof posts === "object" && posts !== null))
  ) {
    return { order, posts: (posts ?? {}) as Record<string, unknown> };
  }
  throw noAnswer("The server's answer is no list of posts");
}
