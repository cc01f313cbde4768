import { CHAT_CHANNEL } from "../../contract/chat_session.ts";
import type { ServiceBoot } from "../../authority/protocol.ts";

/** Which listeners a service opens. */
export function listenersOf(
  { api, channels }: Pick<ServiceBoot, "api" | "channels">,
): { api: boolean; web: boolean } {
  return { api, web: channels.some(({ name }) => name === CHAT_CHANNEL) };
}
