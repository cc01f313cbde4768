/**
 * How far a session is verified, in the words of a package.
 *
 * @module
 */

import type { Verification } from "../channel/verification.ts";

const STATES: readonly unknown[] = ["idle", "waiting", "compare", "done", "failed"];
const MAX_CHARS = 300;
const MAX_EMOJI = 16;

/** A copy of what it says, bounded. Throws for what is none. */
export function readVerification(value: unknown): Verification {
  const said = fields(value);
  const { deviceId, key, isVerified, state, with: other, message, emoji } = said;
  if (!STATES.includes(state)) throw new Error("it said a verification of an unknown state");
  return {
    deviceId: text(deviceId),
    key: text(key),
    isVerified: isVerified === true,
    state: state as Verification["state"],
    ...other !== undefined && { with: text(other) },
    ...message !== undefined && { message: text(message) },
    ...Array.isArray(emoji) && {
      emoji: emoji.slice(0, MAX_EMOJI).map(fields)
        .map(({ symbol, name }) => ({ symbol: text(symbol), name: text(name) })),
    },
  };
}

function fields(value: unknown): Record<string, unknown> {
  if (typeof value !== "object" || value === null) throw new Error("expected an object");
  return value as Record<string, unknown>;
}

function text(value: unknown): string {
  if (typeof value !== "string") throw new Error("expected a text");
  return value.slice(0, MAX_CHARS);
}
