/**
 * The section of the channel, as the manifest describes it.
 *
 * @module
 */

import { ServiceError } from "../../lib/base/errors.ts";
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

/**
 * The section without the blanks and line ends that come along when something is copied. Throws
 * `config_invalid`, naming the field that is wrong.
 */
export function matrixSettings(config: MatrixConfig): MatrixConfig {
  const plain = (text: string) => typeof text === "string" ? text.trim() : text;
  const { homeserver, accessToken, user, userId } = config;
  const settings: MatrixConfig = {
    ...config,
    homeserver: plain(homeserver),
    accessToken: plain(accessToken),
    user: plain(user),
    userId: plain(userId),
  };
  const problem = homeserverUrl(settings.homeserver) === undefined
    ? `homeserver is ${JSON.stringify(homeserver)}: expected a URL, such as https://matrix.org`
    : tokenProblem(settings.accessToken);
  if (problem !== undefined) throw new ServiceError("config_invalid", problem);
  return settings;
}

/** What is wrong with a token; undefined where it may be one. Never with the token in it. */
export function tokenProblem(accessToken: string): string | undefined {
  // No header takes anything else.
  return /^[\x21-\x7e]*$/.test(accessToken)
    ? undefined
    : "accessToken has blanks or other marks in it that no token has: expected it as it was shown";
}

/** The address of a homeserver; undefined for what is none. */
export function homeserverUrl(text: string): URL | undefined {
  const url = URL.parse(text.trim());
  const isUsable = url !== null && /^https?:$/.test(url.protocol) && url.username === "" &&
    url.password === "" && url.search === "" && url.hash === "";
  return isUsable ? url : undefined;
}
