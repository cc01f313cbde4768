/**
 * Chats, groups and topics of Telegram, by a bot.
 *
 * @module
 */

import type { FeatureMetadata } from "../../lib/channel/base_channel.ts";
import { LoginRefusedError } from "../../lib/channel/delivery_error.ts";
import { PlatformChannel, type PlatformSession } from "../../lib/channel/platform/mod.ts";
import { refuseErrors } from "../../lib/channel/setup/findings.ts";
import { systemClock } from "../../lib/base/clock.ts";
import { TelegramApi } from "./api/telegram_api.ts";
import type { Heard } from "./inbound/heard.ts";
import { problemsOf, type TelegramConfig } from "./settings.ts";
import { TelegramDriver, type TelegramRef } from "./telegram_driver.ts";

/** How long Telegram has to say how the bot is called, milliseconds. */
const METADATA_MS = 10_000;

export class TelegramChannel extends PlatformChannel<TelegramConfig, Heard, TelegramRef> {
  protected readonly platform = "Telegram";

  protected open(session: PlatformSession<Heard>): Promise<TelegramDriver> {
    const problems = problemsOf({ ...this.config });
    if (problems[0]?.field === "token") throw new LoginRefusedError(problems[0].message);
    refuseErrors(problems);
    return TelegramDriver.open(this.config, session);
  }

  /** How the bot is called on Telegram. */
  static override async refreshFeatureMetadata(
    config: Record<string, unknown>,
  ): Promise<FeatureMetadata> {
    const api = new TelegramApi({
      token: String(config.token),
      apiUrl: String(config.apiUrl),
      clock: systemClock,
    });
    const { first_name: name, username } = await api.call("getMe", {}, { timeoutMs: METADATA_MS });
    return { name, displayName: `@${username}` };
  }
}
