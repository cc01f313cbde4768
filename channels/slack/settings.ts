/**
 * The section of the channel, checked.
 *
 * @module
 */

import type { PackageConfig } from "../../lib/channel/base_channel.ts";
import { ServiceError } from "../../lib/base/errors.ts";

/** The section, as the manifest describes it. */
export interface SlackConfig extends PackageConfig {
  botToken: string;
  appToken: string;
  mode: string;
  signingSecret: string;
  host: string;
  port: number;
  apiUrl: string;
  respond: string;
  replyInThread: boolean;
  ackReaction: string;
  language: string;
}

/** Name of an emoji as Slack's methods take it, without colons; undefined where it is none. */
export function readEmoji(value: unknown): string | undefined {
  const name = typeof value === "string" ? value.trim().replaceAll(/^:|:$/g, "") : "";
  return name === "" || /^[\p{L}\p{N}_+'-]{1,100}(::skin-tone-[2-6])?$/u.test(name)
    ? name
    : undefined;
}

/** What is made of a section. */
export interface SlackSettings {
  apiUrl: URL;
  ackReaction: string;
  botToken: string;
  appToken: string;
  signingSecret: string;
}

/** The address of the Web API with a slash at its end, as the SDK takes it. */
export function webApi(apiUrl: string): URL {
  return new URL(`${apiUrl}/`);
}

/** Throws `config_invalid`, naming the field and what is expected. */
export function requireSettings(config: SlackConfig): SlackSettings {
  const { mode, apiUrl, ackReaction, botToken, appToken, signingSecret } = config;
  const emoji = readEmoji(ackReaction);
  if (emoji === undefined) {
    throw fault("ackReaction", "ackReaction is wrong: expected the name of an emoji, such as eyes");
  }
  if (mode === "http" && !signingSecret) {
    throw fault("signingSecret", "signingSecret is not set, which the mode http needs");
  }
  if (mode !== "http" && !appToken) {
    throw fault("appToken", "appToken is not set, which the mode socket needs");
  }
  return { apiUrl: webApi(apiUrl), ackReaction: emoji, botToken, appToken, signingSecret };
}

function fault(param: string, message: string): ServiceError {
  return new ServiceError("config_invalid", message, { param });
}
