/**
 * What a message is beside an answer: its typed event, or the flags in its metadata that said so before
 * there were typed events.
 *
 * @module
 */

import type { OutboundEvent, OutboundMessage } from "../contract/outbound_message.ts";

/** Keys of metadata that say what a message is, and of what belongs to them. */
const LEGACY_KEYS: ReadonlySet<string> = new Set([
  "_progress",
  "_tool_hint",
  "_stream_delta",
  "_stream_end",
  "_stream_id",
  "_resuming",
  "_reasoning_delta",
  "_reasoning_end",
  "_turn_end",
  "_goal_status",
]);

const TURN_STATUSES = ["done", "failed", "cancelled", "timed_out", "interrupted"] as const;

/** The event of a message; undefined for an answer. The typed one wins over every flag. */
export function eventOf(
  { event, metadata }: Pick<OutboundMessage, "event" | "metadata">,
): OutboundEvent | undefined {
  if (event !== undefined) return event;
  // Most messages have none of them.
  const flag = (name: string) => isSet(metadata[name]);
  const id = metadata["_stream_id"];
  const streamId = typeof id === "string" && id !== "" ? { streamId: id } : {};
  // An end may come with the last piece, and says more.
  if (flag("_stream_end")) return { type: "stream_end", ...streamId, resuming: flag("_resuming") };
  if (flag("_stream_delta")) return { type: "stream_delta", ...streamId };
  if (flag("_reasoning_end")) return { type: "reasoning_end", ...streamId };
  if (flag("_reasoning_delta")) return { type: "reasoning_delta", ...streamId };
  if (flag("_tool_hint")) return { type: "progress", toolHint: true };
  if (flag("_progress")) return { type: "progress", toolHint: false };
  if (flag("_turn_end")) {
    const status = TURN_STATUSES.find((one) => one === metadata["_turn_end"]) ?? "done";
    return { type: "turn_end", status };
  }
  if (flag("_goal_status")) return { type: "goal_status" };
  return undefined;
}

/** The message with its event as the typed one, and without the flags. */
export function withTypedEvent(message: OutboundMessage): OutboundMessage {
  const event = eventOf(message);
  const { event: _, ...rest } = message;
  return {
    ...rest,
    metadata: withoutFlags(message.metadata),
    ...event !== undefined && { event },
  };
}

function withoutFlags(metadata: OutboundMessage["metadata"]): OutboundMessage["metadata"] {
  const entries = Object.entries(metadata);
  return entries.some(([key]) => LEGACY_KEYS.has(key))
    ? Object.fromEntries(entries.filter(([key]) => !LEGACY_KEYS.has(key)))
    : metadata;
}

/** A flag is on with any value that says so: true, a number but 0, text, or an object of details. */
function isSet(value: unknown): boolean {
  return value !== undefined && value !== null && value !== false && value !== 0 && value !== "";
}
