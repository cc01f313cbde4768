/**
 * Approvals as messages, with buttons or reactions where a platform has them, and the clicks on those. Both
 * outlive a restart: what is needed to say in the message how it came out is in the channel's memory, and a
 * click that counts in its inbox.
 *
 * @module
 */

import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { HandledMessage } from "../../contract/inbound_message.ts";
import type { OutboundMessage } from "../../contract/outbound_message.ts";
import { PermanentDeliveryError } from "../delivery_error.ts";
import type { Answers } from "./answers.ts";
import type {
  ApprovalButton,
  ClickOutcome,
  Edit,
  PlatformClick,
  PlatformReaction,
} from "./driver.ts";
import type { IntakeEntry } from "./intake.ts";
import type { Memory } from "./memory.ts";
import type { PlatformWords } from "./platform_words.ts";
import {
  approvalCommand,
  type ApprovalEvent,
  type ApprovalResolvedEvent,
  ShownApprovals,
} from "./shown_approvals.ts";

/** What approvals are shown with. */
export interface ApprovalsDeps<Ref> {
  answers: Pick<Answers<Ref, never>, "send">;
  split: (markdown: string) => string[];
  /** Rejects as `send` does. */
  edit: (ref: Ref, edit: Edit) => Promise<unknown>;
  memory: Pick<Memory, "get" | "set" | "entries">;
  words: PlatformWords;
  clock: Pick<Clock, "now" | "elapsed">;
}

/** What clicks are taken with. */
export interface ClickDeps {
  isAllowed: (senderId: string) => boolean;
  add: (entries: readonly IntakeEntry<ClickEntry>[]) => Promise<void>;
  log: Pick<Log, "warning">;
}

/** A click that waits in the inbox. */
export interface ClickEntry {
  kind: "approval_click";
  message: HandledMessage;
}

/** What is kept of an approval. */
interface Shown<Ref> {
  /** Absent while nobody has said that it is there. */
  ref?: Ref;
  chatId: string;
  /** Its last part, which has the buttons. */
  text: string;
  /** Absent in files of earlier versions. */
  digest?: string;
  denyOnly?: true;
}

/** Reactions that answer, without what only colours them. */
const ANSWERS: Readonly<Record<string, boolean>> = {
  "👍": true,
  "✅": true,
  "👎": false,
  "❌": false,
};

export class Approvals<Ref> {
  readonly #deps: ApprovalsDeps<Ref>;
  readonly #shown: ShownApprovals<Shown<Ref>>;
  /** Those that are being posted: people may see one before we know what it is called. */
  readonly #posting = new Set<Promise<unknown>>();

  constructor(deps: ApprovalsDeps<Ref>) {
    this.#deps = deps;
    this.#shown = new ShownApprovals(deps);
  }

  /** Shows it, with its buttons where there are some. Rejects as `send` does. */
  async show(message: OutboundMessage, event: ApprovalEvent, hasButtons: boolean): Promise<void> {
    const { answers, words } = this.#deps;
    const { id, digest, expiresAt, denyOnly } = event;
    const button = (isApproval: boolean): ApprovalButton => ({
      ...{ isApproval, approvalId: id, digest, expiresAt },
      label: words(isApproval ? "approve" : "deny"),
    });
    const buttons = denyOnly ? [button(false)] : [button(true), button(false)];
    const { chatId } = message;
    // Before the post: buttons that stand there although nobody could say so work all the same.
    const about = { chatId, digest, ...denyOnly === true && { denyOnly } };
    if (this.#shown.get(id) === undefined) this.#shown.add(event, { ...about, text: "" });
    const posting = answers.send(message, {
      ...hasButtons && { buttons },
      orElse: words("approval"),
    }).then((posted) => this.#shown.add(event, { ...about, ...posted! }));
    this.#posting.add(posting);
    await posting.finally(() => this.#posting.delete(posting));
  }

  /** Takes the buttons away and says how it came out. Rejects as `send` does. */
  async resolve(
    message: OutboundMessage,
    { id, outcome }: ApprovalResolvedEvent,
  ): Promise<void> {
    const { answers, split, edit, words } = this.#deps;
    const shown = this.#shown.close(id);
    if (shown?.ref === undefined) return void await answers.send(message);
    const said = message.content.trim() ||
      words(outcome === "expired" ? "unanswered" : outcome);
    const both = [shown.text, said].filter((text) => text !== "").join("\n\n");
    const text = split(both).length === 1 ? both : split(said)[0] ?? said;
    try {
      await edit(shown.ref, { text, kind: "approval", isFinal: true });
    } catch (error) {
      // The message is gone, or too old to be edited: it is said anew.
      if (!(error instanceof PermanentDeliveryError)) throw error;
      await answers.send({ ...message, content: said });
    }
  }

  /** Undefined for a reaction that answers nothing; else as a click. Never rejects. */
  async react(
    { emoji, isOn, id: clickId, senderId, senderName }: PlatformReaction,
    deps: ClickDeps,
  ): Promise<{ outcome: ClickOutcome; approvalId: string; chatId: string } | undefined> {
    const isApproved = ANSWERS[emoji.replace(/[\u{1F3FB}-\u{1F3FF}\uFE0F]/gu, "")];
    if (isApproved === undefined) return undefined;
    await Promise.allSettled(this.#posting);
    const approvalId = this.#shown.find(({ ref }) => ref !== undefined && isOn(ref));
    if (approvalId === undefined) return undefined;
    const { chatId, digest, denyOnly } = this.#shown.get(approvalId)!;
    if (digest === undefined || (isApproved && denyOnly)) return undefined;
    const click = { approvalId, isApproved, digest, senderId, senderName, chatId, clickId };
    return { outcome: await this.click(click, deps), approvalId, chatId };
  }

  /** Stores a click that counts; never rejects. */
  async click(click: PlatformClick, { isAllowed, add, log }: ClickDeps): Promise<ClickOutcome> {
    const { approvalId, senderId, senderName, clickId, isApproved, digest, metadata } = click;
    if (!isAllowed(senderId)) return "notAllowed";
    const shown = this.#shown.get(approvalId);
    if (click.isOn !== undefined && shown === undefined) return "expired";
    if (shown?.ref !== undefined && click.isOn?.(shown.ref) === false) return "expired";
    switch (this.#shown.claim(click)) {
      case "over":
      case "repeated":
        return "answered";
      case "expired":
        return "expired";
    }
    const message: HandledMessage = {
      senderId,
      ...senderName !== undefined && senderName !== "" && { senderName },
      chatId: shown?.chatId ?? click.chatId,
      content: approvalCommand({ isApproved, id: approvalId, digest }),
      messageId: `click:${clickId}`,
      sentAt: this.#deps.clock.now(),
      ...metadata !== undefined && { metadata },
    };
    try {
      // Not behind what waits in the chat: what waits may be a turn that needs this answer.
      const data: ClickEntry = { kind: "approval_click", message };
      await add([{ lane: `approval:${approvalId}`, id: clickId, data }]);
    } catch (error) {
      this.#shown.release(click);
      log.warning("A click could not be taken", { reason: (error as Error).message });
      return "failed";
    }
    this.#shown.noteClick(click);
    return "taken";
  }
}
