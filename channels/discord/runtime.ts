/**
 * Servers, threads and direct messages of Discord.
 *
 * @module
 */

import type { PackageConfig } from "../../lib/channel/base_channel.ts";
import type { ChannelHost } from "../../lib/channel/channel_host.ts";
import { PlatformChannel, type PlatformSession } from "../../lib/channel/platform/mod.ts";
import { DiscordDriver } from "./discord_driver.ts";
import type { InboundItem } from "./inbound/inbound_item.ts";
import type { MessageRef } from "./outbound/sender.ts";
import { type DiscordSettings, discordSettings } from "./settings.ts";

/** The fields of the manifest, defaults included. */
export type DiscordConfig = PackageConfig & Readonly<Record<string, unknown>>;

export class DiscordChannel extends PlatformChannel<DiscordConfig, InboundItem, MessageRef> {
  protected readonly platform = "Discord";
  protected readonly language: string;
  readonly #settings: DiscordSettings;

  /** Throws `config_invalid`, naming the field that is wrong. */
  constructor(config: DiscordConfig, host: ChannelHost) {
    super(config, host);
    this.#settings = discordSettings(config);
    this.language = this.#settings.language;
  }

  protected open(session: PlatformSession<InboundItem>): Promise<DiscordDriver> {
    return DiscordDriver.open(this.#settings, session);
  }
}
