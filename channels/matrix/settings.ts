/**
 * The section of the channel, as the manifest describes it.
 *
 * @module
 */

import type { PackageConfig } from "../../lib/channel/base_channel.ts";
import type { MatrixLanguage } from "./words.ts";

/** See the module. */
export interface MatrixConfig extends PackageConfig {
  homeserver: string;
  accessToken: string;
  user: string;
  password: string;
  userId: string;
  deviceName: string;
  respond: "mention" | "all";
  threads: "follow" | "always";
  inviteFrom: readonly string[];
  ackReaction: string;
  editEveryMs: number;
  language: MatrixLanguage;
}

/** The address of a homeserver; undefined for what is none. */
export function homeserverUrl(text: string): URL | undefined {
  const url = URL.parse(text.trim());
  const isUsable = url !== null && /^https?:$/.test(url.protocol) && url.username === "" &&
    url.password === "" && url.search === "" && url.hash === "";
  return isUsable ? url : undefined;
}
