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

/** The address of the Web API with a slash at its end; undefined where it is none. */
export function readApiUrl(value: unknown): URL | undefined {
  const url = typeof value === "string" ? URL.parse(value.trim()) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || url.username || url.password) return;
  if (!url.pathname.endsWith("/")) url.pathname += "/";
  return url;
}

/** Name of an emoji as Slack's methods take it, without colons; undefined where it is none. */
export function readEmoji(value: unknown): string | undefined {
  const name = typeof value === "string" ? value.trim().replaceAll(/^:|:$/g, "") : "";
  return name === "" || /^[\p{L}\p{N}_+'-]{1,100}(::skin-tone-[2-6])?$/u.test(name)
    ? name
    : undefined;
}

/** Whether a text may be a token, which stands in a header; an empty one is for others to refuse. */
export function isToken(text: string): boolean {
  return /^[\x21-\x7e]*$/.test(text);
}

/** What is said of another. */
export function notToken(field: string): string {
  return `${field} is no token: it has blanks or letters that no token has; copy it again`;
}

/** What is made of a section. */
export interface SlackSettings {
  apiUrl: URL;
  ackReaction: string;
  /** Secrets without the blanks that are copied along with them. */
  botToken: string;
  appToken: string;
  signingSecret: string;
}

/** Throws `config_invalid`, naming the field and what is expected. */
export function requireSettings(config: SlackConfig): SlackSettings {
  const { mode, apiUrl, ackReaction } = config;
  const botToken = config.botToken.trim();
  const appToken = config.appToken.trim();
  const signingSecret = config.signingSecret.trim();
  for (const [field, token] of Object.entries({ botToken, appToken })) {
    if (!isToken(token)) throw fault(field, notToken(field));
  }
  const url = readApiUrl(apiUrl);
  if (url === undefined) {
    throw fault("apiUrl", "apiUrl is wrong: expected a URL such as https://slack.com/api/");
  }
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
  return { apiUrl: url, ackReaction: emoji, botToken, appToken, signingSecret };
}

function fault(param: string, message: string): ServiceError {
  return new ServiceError("config_invalid", message, { param });
}
