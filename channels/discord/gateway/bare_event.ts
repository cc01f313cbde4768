import type { GatewayDispatchPayload } from "discord.js";

/** Events that this channel looks into. */
const LOOKED_INTO: ReadonlySet<string> = new Set([
  "READY",
  "RESUMED",
  "MESSAGE_CREATE",
  "MESSAGE_UPDATE",
  "INTERACTION_CREATE",
]);

/**
 * An event as far as it matters: of what nobody looks into the number alone. A server with its channels,
 * threads and members is megabytes, and there are thousands of them.
 */
export function bareEvent(event: GatewayDispatchPayload): GatewayDispatchPayload {
  return isBare(event) ? { ...event, d: null } as never : event;
}

/** Whether nobody looks into it. */
export function isBare({ t }: GatewayDispatchPayload): boolean {
  return !LOOKED_INTO.has(t);
}
