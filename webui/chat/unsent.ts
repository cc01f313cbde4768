/**
 * Messages that were not accepted yet, kept over a reload. Each has its id, by which the service knows a
 * repeat. Files are too big to be kept.
 *
 * @module
 */

import { keep, kept } from "../storage.ts";

/** A message on its way. */
export interface Unsent {
  chatId: string;
  /** `client_msg_id`. */
  id: string;
  text: string;
}

const NAME = "service.unsent";

/** Those that are kept, oldest first. */
export function unsentMessages(): Unsent[] {
  try {
    return JSON.parse(kept(NAME, sessionStorage) ?? "[]");
  } catch {
    return [];
  }
}

/** Keeps one. */
export function keepUnsent(message: Unsent): void {
  const others = unsentMessages().filter(({ id }) => id !== message.id);
  keep(NAME, JSON.stringify([...others, message]), sessionStorage);
}

/** It is accepted, or refused for good. */
export function forgetUnsent(id: string): void {
  keep(NAME, JSON.stringify(unsentMessages().filter((each) => each.id !== id)), sessionStorage);
}
