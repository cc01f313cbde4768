/**
 * Approvals as posts with two buttons. What is needed to take the buttons away stands in the channel's
 * folder, so that they work behind a restart.
 *
 * @module
 */

import type { OutboundEvent, OutboundMessage } from "../../../lib/channel/outbound_message.ts";
import type { Memory } from "../../../lib/channel/platform/memory.ts";
import { PermanentDeliveryError } from "../../../lib/channel/delivery_error.ts";
import { readChatId } from "../chat_address.ts";
import type { Poster } from "../outbound/poster.ts";
import { toPosts } from "../text/to_mattermost.ts";
import type { Words } from "../words.ts";
import type { ActionContext } from "./action_context.ts";

/** What is kept of an approval. */
export interface KeptApproval {
  postId: string;
  chatId: string;
  /** As it is shown. */
  text: string;
  /** Milliseconds since 1970. */
  expiresAt: number;
  isOver: boolean;
}

/** What approvals are shown with. */
export interface ApprovalPostsDeps {
  poster: Pick<Poster, "post" | "edit" | "forget">;
  memory: Pick<Memory, "get" | "set">;
  context: ActionContext;
  words: Words;
  /** Characters of a post. */
  maxRunes: number;
}

type ApprovalEvent = Extract<OutboundEvent, { type: "approval" }>;
type ResolvedEvent = Extract<OutboundEvent, { type: "approval_resolved" }>;

const KIND = "approval";

/** Characters that are kept for the words of how it came out. */
const OUTCOME_CHARS = 1_000;

/** See the module. */
export class ApprovalPosts {
  readonly #deps: ApprovalPostsDeps;

  constructor(deps: ApprovalPostsDeps) {
    this.#deps = deps;
  }

  /** Shows it; `url` is where the server posts clicks to. Rejects as `send` does. */
  async show(message: OutboundMessage, event: ApprovalEvent, url: string): Promise<void> {
    const { poster, memory, context, words, maxRunes } = this.#deps;
    const { id: approvalId, digest, expiresAt } = event;
    const parts = toPosts(message.content, maxRunes - OUTCOME_CHARS);
    const address = readChatId(message.chatId);
    const button = async (verb: "approve" | "deny", style: string) => ({
      id: verb,
      name: words(verb),
      type: "button",
      style,
      integration: { url, context: await context.seal({ verb, approvalId, digest }) },
    });
    const actions = [await button("approve", "primary"), await button("deny", "danger")];
    let postId = "";
    for (const [part, text] of (parts.length === 0 ? [""] : parts).entries()) {
      const isLast = part >= parts.length - 1;
      const props = isLast ? { props: { attachments: [{ text: "", actions }] } } : {};
      postId = await poster.post({ address, messageId: message.id, part, text, ...props });
    }
    const kept: KeptApproval = {
      postId,
      chatId: message.chatId,
      text: parts.at(-1) ?? "",
      expiresAt,
      isOver: false,
    };
    memory.set(KIND, approvalId, kept);
    poster.forget(message.id, parts.length);
  }

  /** What is known of an approval that was shown with buttons. */
  kept(approvalId: string): KeptApproval | undefined {
    return this.#deps.memory.get<KeptApproval>(KIND, approvalId);
  }

  /** Whether a person has clicked on one of its buttons before. */
  hasClicked(approvalId: string, userId: string): boolean {
    return this.#deps.memory.get("click", `${approvalId}:${userId}`) !== undefined;
  }

  markClicked(approvalId: string, userId: string): void {
    this.#deps.memory.set("click", `${approvalId}:${userId}`, 1);
  }

  /**
   * Takes the buttons away and says how it came out. Resolves with whether that was shown; rejects as
   * `send` does.
   */
  async resolve(event: ResolvedEvent, content: string): Promise<boolean> {
    const kept = this.kept(event.id);
    if (kept === undefined) return false;
    const { poster, memory } = this.#deps;
    memory.set(KIND, event.id, { ...kept, isOver: true });
    const outcome = toPosts(content, OUTCOME_CHARS - 2)[0] ?? "";
    const text = [kept.text, outcome].filter((each) => each !== "").join("\n\n");
    try {
      await poster.edit(kept.postId, text, { attachments: [] });
      return true;
    } catch (error) {
      // The post is gone, or too old to be edited: it is said anew.
      if (error instanceof PermanentDeliveryError) return false;
      throw error;
    }
  }
}
