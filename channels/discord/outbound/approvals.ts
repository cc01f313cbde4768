/**
 * Approvals as messages with buttons: shown, answered by a click, and closed, also over restarts.
 *
 * @module
 */

import type { Clock } from "../../../lib/agent/clock.ts";
import { PermanentDeliveryError } from "../../../lib/channel/delivery_error.ts";
import type { OutboundEvent, OutboundMessage } from "../../../lib/channel/outbound_message.ts";
import type { Memory } from "../../../lib/channel/platform/mod.ts";
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
/** A click that is not on the disk after so long was lost, milliseconds. */
const UNDER_WAY_MS = 3 * 60_000;

type Approval = Extract<OutboundEvent, { type: "approval" }>;
type Click = Extract<Interaction, { kind: "click" }>;
type Resolved = Extract<OutboundEvent, { type: "approval_resolved" }>;

/** What is kept of one. */
interface Kept extends MessageRef {
  expiresAt: number;
  /** Who has clicked. */
  clicked: string[];
  isOver?: true;
}

/** What they work with. */
export interface ApprovalsDeps {
  api: DiscordApi;
  sender: Sender;
  memory: Memory;
  words: Words;
  clock: Pick<Clock, "now" | "elapsed">;
}

/** See the module. */
export class Approvals {
  readonly #deps: ApprovalsDeps;
  /** Interactions that are on their way to the disk, by approval and person, and since when. */
  readonly #underWay = new Map<string, { id: string; atMs: number }>();

  constructor(deps: ApprovalsDeps) {
    this.#deps = deps;
  }

  /** Asks in a chat. Rejects as a delivery does. */
  async show(message: OutboundMessage, { id, digest, expiresAt }: Approval): Promise<void> {
    const { memory, sender, words } = this.#deps;
    const texts = toMessages(message.content);
    const button = (isYes: boolean, label: string) => ({
      type: BUTTON,
      style: isYes ? GREEN : RED,
      label: label.slice(0, 80),
      custom_id: buttonId(isYes, id, digest),
    });
    const buttons = [button(true, words.approve), button(false, words.deny)];
    const fits = buttons.every(({ custom_id }) => custom_id.length <= MAX_CUSTOM_ID_CHARS);
    for (const [index, text] of texts.entries()) {
      const isLast = index === texts.length - 1;
      const ref = await sender.post(message, text, {
        key: `${message.channel} ${message.id} ${index}`,
        ...isLast && fits && { body: { components: [{ type: ROW, components: buttons }] } },
      });
      if (isLast && fits) {
        memory.set("approval", id, { ...ref, expiresAt, clicked: [] } satisfies Kept);
      }
    }
  }

  /** Says how it came out, in the message itself. Rejects as a delivery does. */
  async close(message: OutboundMessage, { id }: Resolved): Promise<void> {
    const { api, memory, sender } = this.#deps;
    const kept = memory.get<Kept>("approval", id);
    const [words = ""] = toMessages(message.content);
    const saySo = async () => {
      if (words === "") return;
      await sender.post(message, words, { key: `${message.channel} ${message.id} 0` });
    };
    if (kept === undefined) return await saySo();
    memory.set("approval", id, { ...kept, isOver: true });
    try {
      const { content } = await api.message(kept.channelId, kept.id);
      const both = `${content}\n\n${words}`.trim();
      const isSaid = words === "" || content.endsWith(words);
      const text = isSaid ? content : charsOf(both) <= MAX_CHARS ? both : words;
      await sender.edit(kept, text, { components: [] });
    } catch (error) {
      const fault = deliveryFault(error);
      if (!(fault instanceof PermanentDeliveryError)) throw fault;
      // Somebody has deleted it, or it may not be edited any more: people have to know all the same.
      await saySo();
    }
  }

  /** What to tell whoever clicked in vain; undefined for a click that counts. */
  refuse({ approvalId, senderId, ref }: Click): string | undefined {
    const { memory, words, clock } = this.#deps;
    const kept = memory.get<Kept>("approval", approvalId);
    // One that the process was killed behind is not known here, and counts for what its button says.
    if (kept?.isOver || kept !== undefined && kept.expiresAt <= clock.now()) return words.over;
    const key = `${approvalId} ${senderId}`;
    const now = clock.elapsed();
    for (const [old, { atMs }] of this.#underWay) {
      // It was on its way when its session ended, and comes no more.
      if (now - atMs > UNDER_WAY_MS) this.#underWay.delete(old);
    }
    // The same click may be told again before it is on the disk.
    const underWay = this.#underWay.get(key)?.id ?? ref.id;
    if (kept?.clicked.includes(senderId) || underWay !== ref.id) return words.alreadySent;
    this.#underWay.set(key, { id: ref.id, atMs: now });
    return undefined;
  }

  /** A click is on the disk: another of the same person counts no more. */
  remember({ approvalId, senderId }: Click): void {
    const { memory } = this.#deps;
    const kept = memory.get<Kept>("approval", approvalId);
    if (kept !== undefined) {
      const clicked = [...kept.clicked, senderId].slice(-50);
      memory.set("approval", approvalId, { ...kept, clicked });
    }
    this.#underWay.delete(`${approvalId} ${senderId}`);
  }
}
