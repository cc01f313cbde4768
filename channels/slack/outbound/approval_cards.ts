/**
 * Approvals as messages with buttons, which go when it is over.
 *
 * @module
 */

import type { Clock } from "../../../lib/base/clock.ts";
import type { OutboundMessage } from "../../../lib/contract/outbound_message.ts";
import {
  type ApprovalClick,
  type ApprovalEvent,
  type ApprovalResolvedEvent,
  type Memory,
  ShownApprovals,
} from "../../../lib/channel/platform/mod.ts";
import { SlackRefusal } from "../api/slack_fault.ts";
import { APPROVE_ACTION, DENY_ACTION, type SlackClick, writeButton } from "../events/read_click.ts";
import type { Words } from "../words.ts";
import type { SlackMessages, SlackRef } from "./slack_messages.ts";
import { splitForSlack } from "../text/to_slack.ts";

/** What it works with. */
export interface ApprovalCardsDeps {
  messages: Pick<SlackMessages, "post" | "update">;
  /** Keeps which message shows which approval. */
  memory: Memory;
  words: Words;
  clock: Pick<Clock, "now" | "elapsed">;
}

interface Card extends SlackRef {
  content: string;
}

/** Characters of the words that a card keeps, to be shown again without its buttons. */
const MAX_KEPT_CHARS = 9_000;

export class ApprovalCards {
  readonly #deps: ApprovalCardsDeps;
  readonly #shown: ShownApprovals<Card>;

  constructor(deps: ApprovalCardsDeps) {
    this.#deps = deps;
    this.#shown = new ShownApprovals(deps);
  }

  /** Shows one. Rejects as Slack refuses. */
  async show({ chatId, content }: OutboundMessage, event: ApprovalEvent): Promise<void> {
    const { messages, words } = this.#deps;
    const { id, digest, expiresAt, denyOnly } = event;
    const value = writeButton({ id, digest: digest.slice(0, 8), expiresAt, chatId });
    const button = (text: string, actionId: string, style: string) => ({
      type: "button",
      action_id: actionId,
      style,
      value,
      text: { type: "plain_text", text, emoji: false },
    });
    const approve = denyOnly ? [] : [button(words("approve"), APPROVE_ACTION, "primary")];
    const buttons = {
      type: "actions",
      elements: [...approve, button(words("deny"), DENY_ACTION, "danger")],
    };
    const parts = splitForSlack(content);
    const last = parts.pop() ?? words("approval");
    for (const part of parts) await messages.post(chatId, part);
    const ref = await messages.post(chatId, last, [buttons]);
    this.#shown.add(event, { ...ref, content: last.slice(0, MAX_KEPT_CHARS) });
  }

  /** Takes the buttons away and says how it came out. Rejects as Slack refuses. */
  async resolve(
    { chatId, content }: OutboundMessage,
    { id, outcome }: ApprovalResolvedEvent,
  ): Promise<void> {
    const { messages, words } = this.#deps;
    // From now on no click counts, also where Slack does not take the change.
    const card = this.#shown.close(id);
    const said = content.trim() === "" ? outcomeWords(words, outcome) : content.trim();
    if (card === undefined) {
      // Nothing is known of its message: a process was killed behind its post.
      for (const part of splitForSlack(content)) await messages.post(chatId, part);
      return;
    }
    try {
      await messages.update(
        { channel: card.channel, ts: card.ts },
        `${card.content}\n\n**${said.replace(/\*\*/g, "").slice(0, 1_000)}**`,
      );
    } catch (error) {
      if (!(error instanceof SlackRefusal)) throw error;
      // Somebody has removed it, and saw what it was; what may not be edited any more is answered.
      if (error.code !== "message_not_found") await messages.post(chatId, said);
    }
  }

  /** Why a click counts for nothing, in words for who clicked; undefined where it counts. */
  problemOf(click: SlackClick): string | undefined {
    const { words, clock } = this.#deps;
    switch (this.#shown.claim(clickOf(click))) {
      case "over":
        return words("approvalOver");
      case "expired":
        return words("approvalExpired");
      case "repeated":
        return words("approvalClicked");
    }
    // All that the service needs stands in the button.
    return click.button.expiresAt <= clock.now() ? words("approvalExpired") : undefined;
  }

  /** Notes a click that counts: the next one of the same person for the same approval does not. */
  noteClick(click: SlackClick): void {
    this.#shown.noteClick(clickOf(click));
  }
}

function clickOf({ button, senderId, actionTs }: SlackClick): ApprovalClick {
  return { approvalId: button.id, senderId, clickId: actionTs };
}

function outcomeWords(words: Words, outcome: ApprovalResolvedEvent["outcome"]): string {
  switch (outcome) {
    case "approved":
      return words("approved");
    case "denied":
      return words("denied");
    case "expired":
      return words("approvalExpired");
    default:
      return words("approvalOver");
  }
}
