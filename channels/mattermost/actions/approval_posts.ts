/**
 * Approvals as posts with two buttons. What is needed to take the buttons away stands in the channel's
 * folder, so that they work behind a restart.
 *
 * @module
 */

import type { OutboundMessage } from "../../../lib/contract/outbound_message.ts";
import {
  type ApprovalEvent,
  type ApprovalResolvedEvent,
  SendSteps,
  type ShownApprovals,
} from "../../../lib/channel/platform/mod.ts";
import { PermanentDeliveryError } from "../../../lib/channel/delivery_error.ts";
import { readChatId } from "../chat_address.ts";
import type { Poster } from "../outbound/poster.ts";
import { toPosts } from "../text/to_mattermost.ts";
import type { Words } from "../words.ts";
import type { ActionContext } from "./action_context.ts";

/** What is kept of an approval. */
export interface ApprovalPost {
  /** Empty while nobody has said that it is there. */
  postId: string;
  chatId: string;
  /** As it is shown. */
  text: string;
}

/** What approvals are shown with. */
export interface ApprovalPostsDeps {
  poster: Pick<Poster, "post" | "edit">;
  shown: Pick<ShownApprovals<ApprovalPost>, "add" | "get" | "close">;
  context: ActionContext;
  words: Words;
  /** Characters of a post. */
  maxRunes: number;
}

/** Characters that are kept for the words of how it came out. */
const OUTCOME_CHARS = 1_000;

export class ApprovalPosts {
  readonly #deps: ApprovalPostsDeps;
  readonly #steps = new SendSteps<string>();

  constructor(deps: ApprovalPostsDeps) {
    this.#deps = deps;
  }

  /** Shows it; `url` is where the server posts clicks to. Rejects as `send` does. */
  async show(message: OutboundMessage, event: ApprovalEvent, url: string): Promise<void> {
    const { poster, shown, context, words, maxRunes } = this.#deps;
    const { id: approvalId, digest, denyOnly } = event;
    const parts = toPosts(message.content, maxRunes - OUTCOME_CHARS);
    const address = readChatId(message.chatId);
    const button = async (verb: "approve" | "deny", style: string) => ({
      id: verb,
      name: words(verb),
      type: "button",
      style,
      integration: { url, context: await context.seal({ verb, approvalId, digest }) },
    });
    const approve = denyOnly ? [] : [await button("approve", "primary")];
    const actions = [...approve, await button("deny", "danger")];
    const texts = parts.length === 0 ? [""] : parts;
    const steps = texts.map((text, part) => () => {
      const isLast = part === texts.length - 1;
      const props = isLast ? { props: { attachments: [{ text: "", actions }] } } : {};
      return poster.post({ address, messageId: message.id, part, text, ...props });
    });
    // Before the post: buttons that stand there although nobody could say so work all the same.
    const post = { postId: "", chatId: message.chatId, text: texts.at(-1)! };
    if (shown.get(approvalId) === undefined) shown.add(event, post);
    const postId = (await this.#steps.run(message.id, steps)).at(-1)!;
    shown.add(event, { ...post, postId });
  }

  /**
   * Takes the buttons away and says how it came out. Resolves with whether that was shown; rejects as
   * `send` does.
   */
  async resolve({ id }: ApprovalResolvedEvent, content: string): Promise<boolean> {
    const { poster, shown } = this.#deps;
    const post = shown.close(id);
    if (post === undefined || post.postId === "") return false;
    const outcome = toPosts(content, OUTCOME_CHARS - 2)[0] ?? "";
    const text = [post.text, outcome].filter((each) => each !== "").join("\n\n");
    try {
      await poster.edit(post.postId, text, { attachments: [] });
      return true;
    } catch (error) {
      // The post is gone, or too old to be edited: it is said anew.
      if (error instanceof PermanentDeliveryError) return false;
      throw error;
    }
  }
}
