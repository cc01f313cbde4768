/**
 * Which wire a path belongs to.
 *
 * @module
 */

import type { Wire } from "./wire.ts";
import { CHAT } from "./wire_chat.ts";
import { MESSAGES } from "./wire_messages.ts";
import { RESPONSES } from "./wire_responses.ts";

/** The wire of a path; undefined for one that no wire has. */
export function wireOf(path: string): Wire | undefined {
  if (path.endsWith("/chat/completions")) return CHAT;
  if (path.endsWith("/messages")) return MESSAGES;
  if (path.endsWith("/responses")) return RESPONSES;
  return undefined;
}
