/**
 * What may become of a message in the outbox.
 *
 * @module
 */

/** Every state, in the order in which a message may come into it. */
export const OUTBOX_STATES = [
  "pending",
  "sending",
  "sent",
  "unknown",
  "dead",
  "expired",
] as const;

/** One of {@linkcode OUTBOX_STATES}. */
export type OutboxState = typeof OUTBOX_STATES[number];
