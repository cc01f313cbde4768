/**
 * The section of an instance, as the runtime goes by it.
 *
 * @module
 */

import { ServiceError } from "../../lib/base/errors.ts";
import type { PackageConfig } from "../../lib/channel/base_channel.ts";

/** The fields of the manifest, defaults included. */
export interface SignalConfig extends PackageConfig {
  account: string;
  host: string;
  port: number;
  deviceName: string;
  respond: "mention" | "all";
  ackReaction: string;
  readReceipts: boolean;
  language: string;
}

/** The section without blanks around its texts. Throws `config_invalid`, naming the field that is wrong. */
export function signalSettings(config: SignalConfig): SignalConfig {
  const settings = {
    ...config,
    account: String(config.account ?? "").replace(/[\s()-]/g, ""),
    host: String(config.host ?? "").trim(),
    ackReaction: String(config.ackReaction ?? "").trim(),
  };
  if (/^\+\d{6,15}$/.test(settings.account)) return settings;
  throw new ServiceError(
    "config_invalid",
    `account is ${
      JSON.stringify(settings.account.slice(0, 80))
    }: expected a phone number with its ` +
      "country code, such as +4915112345678",
    { param: "account" },
  );
}
