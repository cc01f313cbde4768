import type { PackageConfig } from "../../lib/channel/base_channel.ts";

/** The section of an instance: the fields of the manifest, as the contract reads them. */
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
