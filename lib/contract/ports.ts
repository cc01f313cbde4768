/**
 * Where the gate hands over what it has allowed: messages to chats, and automations.
 *
 * @module
 */

import type { Automation } from "./automation.ts";
import type { OutboxMessage } from "./journal.ts";

/** A message that the gate has allowed, with the bytes of its files. */
export interface AllowedMessage
  extends Pick<OutboxMessage, "id" | "turnId" | "channel" | "chatId" | "content"> {
  files?: readonly { name: string; bytes: Uint8Array<ArrayBuffer> }[];
  /** Its files go out with the answer of its turn, wherever that goes. */
  withAnswer?: true;
}

/** What became of a message for a chat. */
export interface Enqueued {
  /** It was on record already, and was not queued a second time. */
  repeated: boolean;
  /** False: no such channel runs; it waits until one does, or expires. */
  channelEnabled: boolean;
}

/** Where messages for chats wait to be delivered. Rejects with a ServiceError, such as `overloaded`. */
export interface OutboxPort {
  enqueue(message: AllowedMessage, options: { timeoutMs: number }): Promise<Enqueued>;
}

/** What became of an automation that was approved. */
export interface CreatedAutomation {
  /** It was there already, and was not made a second time. */
  repeated: boolean;
}

/** Where automations are that the agent proposes. Rejects with a ServiceError, such as `not_enabled`. */
export interface AutomationWriter {
  /** Makes it, switched on. The same id again makes none. */
  create(
    spec: Automation,
    options: { automationId: string; timeoutMs: number },
  ): Promise<CreatedAutomation>;
}
