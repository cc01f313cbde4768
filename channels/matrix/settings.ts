/**
 * The section of the channel, as the manifest describes it.
 *
 * @module
 */

import type { PackageConfig } from "../../lib/channel/base_channel.ts";

export interface MatrixConfig extends PackageConfig {
  homeserver: string;
  accessToken: string;
  user: string;
  password: string;
  userId: string;
  deviceName: string;
  respond: "mention" | "all";
  threads: "follow" | "always";
  encryption: "on" | "verified" | "off";
  inviteFrom: readonly string[];
  ackReaction: string;
  editEveryMs: number;
  language: string;
}
