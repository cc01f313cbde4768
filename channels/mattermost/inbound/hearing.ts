/**
 * Who of those that write is heard, and who is named instead: people whom `allowFrom` does not list, and
 * programs that write with our own account.
 *
 * @module
 */

import type { Log } from "../../../lib/base/log.ts";
import type { Poster } from "../outbound/poster.ts";
import type { MattermostSettings } from "../settings.ts";
import { type HeardPost, heardPost } from "./heard_post.ts";
import type { MattermostPost } from "./post.ts";

/** What hearing goes by. */
export interface HearingDeps {
  settings: Pick<MattermostSettings, "respond" | "replyInThread">;
  /** Our own user id and name. */
  me: { id: string; username: string };
  poster: Pick<Poster, "isOurs" | "isInThread">;
  isAllowed: (senderId: string) => boolean;
  /** Another program writes with our account. */
  onStranger: () => void;
  log: Pick<Log, "info">;
}

/** People who are named in the log. */
const MAX_NAMED = 100;

export class Hearing {
  readonly #deps: HearingDeps;
  readonly #named = new Set<string>();

  constructor(deps: HearingDeps) {
    this.#deps = deps;
  }

  /** The post as it is heard; undefined for one that is not. `isLive`: it was written just now. */
  hear(post: MattermostPost, isDirect: boolean, isLive: boolean): HeardPost | undefined {
    const { settings: { respond, replyInThread }, me, poster, isAllowed, onStranger } = this.#deps;
    if (isLive && post.type === "" && poster.isOurs(post) === false) onStranger();
    const isInThread = (rootId: string) => poster.isInThread(rootId);
    const heard = heardPost(post, isDirect, { me, respond, replyInThread, isInThread });
    if (heard === undefined || isAllowed(post.userId)) return heard;
    this.#name(post.userId);
    return undefined;
  }

  /** So that whoever sets it up finds the id to put into `allowFrom`. */
  #name(userId: string): void {
    if (this.#named.has(userId) || this.#named.size >= MAX_NAMED) return;
    this.#named.add(userId);
    const message = "Somebody was not heard: allowFrom does not list the user id";
    this.#deps.log.info(message, { userId });
  }
}
