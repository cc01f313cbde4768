/**
 * A message on its way out to a channel (document 3 "OutboundMessage").
 *
 * @module
 */

/** What a message is beside an answer. */
export type OutboundEvent =
  /** `toolHint`: a short breadcrumb of a tool call. */
  { type: "progress"; toolHint: boolean };

/** See the module. */
export interface OutboundMessage {
  /** The same at every attempt, so that a channel that can tell sends it once. */
  id: string;
  /** Runtime name: the channel, or one of its instances. */
  channel: string;
  /** As the channel named it when the chat's message came in. */
  chatId: string;
  /** Markdown. */
  content: string;
  /** Paths on this machine. */
  media: readonly string[];
  /** For routing, such as `message_id` of what is replied to. */
  metadata: Readonly<Record<string, unknown>>;
  /** Absent: an answer, or a message that the agent sends by itself. */
  event?: OutboundEvent;
}
