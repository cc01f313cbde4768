/**
 * People who write and are not in `allowFrom`. Nothing of theirs is kept. Who writes to the bot alone may be
 * given a code; who they all are is logged, once each, so that whoever sets the channel up finds the id that
 * belongs into the list.
 *
 * @module
 */

import type { ChannelHost } from "../channel_host.ts";
import type { PlatformSender } from "./driver.ts";

/** Of more the log says nothing. */
const MAX_NAMED = 100;

export class Strangers {
  readonly #host: Pick<ChannelHost, "log" | "meet">;
  readonly #named = new Set<string>();

  constructor(host: Pick<ChannelHost, "log" | "meet">) {
    this.#host = host;
  }

  met({ directChatId: chatId, ...sender }: PlatformSender): void {
    const { senderId } = sender;
    if (chatId !== undefined) this.#host.meet({ ...sender, chatId });
    if (this.#named.has(senderId) || this.#named.size >= MAX_NAMED) return;
    this.#named.add(senderId);
    this.#host.log.info("Somebody who is not in allowFrom has written", { ...sender });
  }
}
