/**
 * Servers, threads and direct messages of Discord.
 *
 * @module
 */

import { PlatformChannel, type PlatformSession } from "../../lib/channel/platform/mod.ts";
import { refuseErrors } from "../../lib/channel/setup/findings.ts";
import { DiscordDriver } from "./discord_driver.ts";
import type { InboundItem } from "./inbound/inbound_item.ts";
import type { MessageRef } from "./outbound/sender.ts";
import { type DiscordConfig, problemsOf, tokenOf } from "./settings.ts";

export class DiscordChannel extends PlatformChannel<DiscordConfig, InboundItem, MessageRef> {
  protected readonly platform = "Discord";

  protected open(session: PlatformSession<InboundItem>): Promise<DiscordDriver> {
    refuseErrors(problemsOf(this.config));
    return DiscordDriver.open({ ...this.config, token: tokenOf(this.config) }, session);
  }
}
