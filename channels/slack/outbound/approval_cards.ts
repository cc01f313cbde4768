/**
 * Approvals as messages with buttons, which go when it is over.
 *
 * @module
 */

import type { Clock } from "../../../lib/agent/clock.ts";
import type { Memory } from "../../../lib/channel/platform/memory.ts";
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
  clock: Pick<Clock, "now">;
}

/** An approval, as the service sends it. */
export interface ApprovalRequest {
  id: string;
  digest: string;
  expiresAt: number;
}

interface Card extends SlackRef {
  content: string;
}

/** Messages that show approvals, approvals that wait no more, and who has clicked: by the approval. */
const KIND = "approval";
const OVER = "over";
const CLICKED = "clicked";

/** Characters of the words that a card keeps, to be shown again without its buttons. */
const MAX_KEPT_CHARS = 9_000;

/** See the module. */
export class ApprovalCards {
  readonly #deps: ApprovalCardsDeps;

  constructor(deps: ApprovalCardsDeps) {
    this.#deps = deps;
  }

  /** Shows one. Rejects as Slack refuses. */
  async show(chatId: string, content: string, request: ApprovalRequest): Promise<void> {
    const { messages, memory, words } = this.#deps;
    const { id, digest, expiresAt } = request;
    const value = writeButton({ id, digest: digest.slice(0, 8), expiresAt, chatId });
    const button = (text: string, actionId: string, style: string) => ({
      type: "button",
      action_id: actionId,
      style,
      value,
      text: { type: "plain_text", text, emoji: false },
    });
    const buttons = {
      type: "actions",
      elements: [
        button(words.approve, APPROVE_ACTION, "primary"),
        button(words.deny, DENY_ACTION, "danger"),
      ],
    };
    const parts = splitForSlack(content);
    const last = parts.pop() ?? words.approval;
    for (const part of parts) await messages.post(chatId, part);
    const ref = await messages.post(chatId, last, [buttons]);
    memory.set(KIND, id, { ...ref, content: last.slice(0, MAX_KEPT_CHARS) });
  }

  /** Takes the buttons away and says how it came out. Rejects as Slack refuses. */
  async resolve(chatId: string, id: string, outcome: string, content: string): Promise<void> {
    const { messages, memory, words } = this.#deps;
    // From now on no click counts, also where Slack does not take the change.
    memory.set(OVER, id, true);
    const card = memory.get<Card>(KIND, id);
    const shown = outcomeWords(words, outcome);
    const said = content.trim() === "" ? shown : content.trim();
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
      // Somebody has removed it.
      if (!(error instanceof SlackRefusal)) throw error;
    }
    memory.delete(KIND, id);
  }

  /** Why a click counts for nothing, in words for who clicked; undefined where it counts. */
  problemOf({ button, senderId, actionTs }: SlackClick): string | undefined {
    const { memory, words, clock } = this.#deps;
    if (memory.get(OVER, button.id) !== undefined) return words.approvalOver;
    if (button.expiresAt <= clock.now()) return words.approvalExpired;
    // The same click that Slack tells again is no second one.
    const clicked = memory.get<string>(CLICKED, `${button.id} ${senderId}`) ?? actionTs;
    return clicked === actionTs ? undefined : words.approvalClicked;
  }

  /** Notes a click that counts: the next one of the same person for the same approval does not. */
  noteClick({ button, senderId, actionTs }: SlackClick): void {
    this.#deps.memory.set(CLICKED, `${button.id} ${senderId}`, actionTs);
  }
}

function outcomeWords(words: Words, outcome: string): string {
  switch (outcome) {
    case "approved":
      return words.approved;
    case "denied":
      return words.denied;
    case "expired":
      return words.approvalExpired;
    default:
      return words.approvalOver;
  }
}
