import { CHAT_CHANNEL } from "../channel/chat_session.ts";
import type { ServiceBoot } from "./bridge.ts";

/** Which listeners a service opens. */
export function listenersOf(
  { api, channels }: Pick<ServiceBoot, "api" | "channels">,
): { api: boolean; web: boolean } {
  return { api, web: channels.some(({ name }) => name === CHAT_CHANNEL) };
}
