/**
 * Approvals as messages with buttons: shown, answered by a click, and closed, also over restarts.
 *
 * @module
 */

import type { Clock } from "../../../lib/base/clock.ts";
import { PermanentDeliveryError } from "../../../lib/channel/delivery_error.ts";
import type { OutboundMessage } from "../../../lib/contract/outbound_message.ts";
import {
  type ApprovalEvent,
  type ApprovalResolvedEvent,
  type Memory,
  ShownApprovals,
} from "../../../lib/channel/platform/mod.ts";
import { buttonId, type Interaction } from "../inbound/read_interaction.ts";
import type { DiscordApi } from "../rest/discord_api.ts";
import { deliveryFault } from "../rest/delivery_fault.ts";
import { charsOf, MAX_CHARS, toMessages } from "../text/to_discord.ts";
import type { Words } from "../words.ts";
import type { MessageRef, Sender } from "./sender.ts";

/** ACTION_ROW and BUTTON, and the colours of buttons. */
const ROW = 1;
const BUTTON = 2;
const GREEN = 3;
const RED = 4;

const MAX_CUSTOM_ID_CHARS = 100;
type Click = Extract<Interaction, { kind: "click" }>;

/** What they work with. */
export interface ApprovalsDeps {
  api: DiscordApi;
  sender: Sender;
  memory: Memory;
  words: Words;
  clock: Pick<Clock, "now" | "elapsed">;
}

export class Approvals {
  readonly #deps: ApprovalsDeps;
  readonly #shown: ShownApprovals<MessageRef>;

  constructor(deps: ApprovalsDeps) {
    this.#deps = deps;
    this.#shown = new ShownApprovals(deps);
  }

  /** Asks in a chat. Rejects as a delivery does. */
  async show(message: OutboundMessage, event: ApprovalEvent): Promise<void> {
    const { sender, words } = this.#deps;
    const texts = toMessages(message.content);
    const button = (isYes: boolean, label: string) => ({
      type: BUTTON,
      style: isYes ? GREEN : RED,
      label: label.slice(0, 80),
      custom_id: buttonId(isYes, event.id, event.digest),
    });
    const approve = event.denyOnly ? [] : [button(true, words("approve"))];
    const buttons = [...approve, button(false, words("deny"))];
    const fits = buttons.every(({ custom_id }) => custom_id.length <= MAX_CUSTOM_ID_CHARS);
    for (const [index, text] of texts.entries()) {
      const isLast = index === texts.length - 1;
      const ref = await sender.post(message, text, {
        key: `${message.channel} ${message.id} ${index}`,
        ...isLast && fits && { body: { components: [{ type: ROW, components: buttons }] } },
      });
      if (isLast && fits) this.#shown.add(event, ref);
    }
  }

  /** Says how it came out, in the message itself. Rejects as a delivery does. */
  async close(message: OutboundMessage, { id }: ApprovalResolvedEvent): Promise<void> {
    const { api, sender } = this.#deps;
    const shown = this.#shown.close(id);
    const [words = ""] = toMessages(message.content);
    const saySo = async () => {
      if (words === "") return;
      await sender.post(message, words, { key: `${message.channel} ${message.id} 0` });
    };
    if (shown === undefined) return await saySo();
    try {
      const { content } = await api.message(shown.channelId, shown.id);
      const both = `${content}\n\n${words}`.trim();
      const isSaid = words === "" || content.endsWith(words);
      const text = isSaid ? content : charsOf(both) <= MAX_CHARS ? both : words;
      await sender.edit(shown, text, { components: [] });
    } catch (error) {
      const fault = deliveryFault(error);
      if (!(fault instanceof PermanentDeliveryError)) throw fault;
      // Somebody has deleted it, or it may not be edited any more: people have to know all the same.
      await saySo();
    }
  }

  /** What to tell whoever clicked in vain; undefined for a click that counts. */
  refuse({ approvalId, senderId, ref }: Click): string | undefined {
    const { words } = this.#deps;
    switch (this.#shown.claim({ approvalId, senderId, clickId: ref.id })) {
      case undefined:
        return undefined;
      case "repeated":
        return words("alreadySent");
      default:
        return words("over");
    }
  }

  /** A click is on the disk: another of the same person counts no more. */
  remember({ approvalId, senderId, ref }: Click): void {
    this.#shown.noteClick({ approvalId, senderId, clickId: ref.id });
  }
}
