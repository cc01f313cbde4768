/**
 * The section of an instance, as the runtime goes by it.
 *
 * @module
 */

import type { PackageConfig } from "../../lib/channel/base_channel.ts";
import { ServiceError } from "../../lib/base/errors.ts";

/** The fields of the manifest, defaults included. */
export type MattermostConfig = PackageConfig & Readonly<Record<string, unknown>>;

export interface MattermostSettings {
  /** Without a slash at its end; may have a path. */
  url: string;
  token: string;
  /** Certificates to trust beside the usual ones; empty: none. */
  caFile: string;
  /** Its name in URLs; empty: all teams. */
  team: string;
  respond: "mention" | "all";
  replyInThread: boolean;
  /** Name of an emoji without colons; empty: none. */
  ackReaction: string;
  /** Of buttons and notes. */
  language: string;
  /** Where clicks on buttons are taken; undefined: there are no buttons. */
  actions: { host: string; port: number; publicUrl: string } | undefined;
}

/** A field that is wrong. */
export interface SettingsProblem {
  field: string;
  message: string;
}

/** What is set, and what is wrong with it. */
export function readSettings(
  config: Readonly<Record<string, unknown>>,
): { settings: MattermostSettings; problems: SettingsProblem[] } {
  const problems: SettingsProblem[] = [];
  const url = addressOf("url", config.url, problems);
  if (url === "" && problems.length === 0) {
    problems.push({ field: "url", message: "url is not set: expected that of the server" });
  }
  const token = textOf(config.token);
  if (/\s/.test(token)) {
    problems.push({
      field: "token",
      message: "token has blanks in it: expected it as it was shown",
    });
  }
  const ackReaction = textOf(config.ackReaction ?? "eyes").replace(/^:|:$/g, "").toLowerCase();
  if (!/^[a-z0-9+_-]{0,64}$/.test(ackReaction)) {
    problems.push({
      field: "ackReaction",
      message: `ackReaction is ${quoted(ackReaction)}: expected a name such as eyes`,
    });
  }
  const team = textOf(config.team).replace(/^~/, "");
  if (!/^[a-z0-9-]{0,64}$/.test(team)) {
    problems.push({
      field: "team",
      message: `team is ${quoted(team)}: expected its name in the address, such as my-team`,
    });
  }
  const publicUrl = addressOf("actionsUrl", config.actionsUrl, problems);
  const host = textOf(config.actionsHost);
  if (/[\s/]/.test(host)) {
    problems.push({
      field: "actionsHost",
      message: `actionsHost is ${quoted(host)}: expected an address such as 127.0.0.1`,
    });
  }
  const settings: MattermostSettings = {
    url,
    token,
    caFile: textOf(config.caFile),
    team,
    respond: config.respond === "all" ? "all" : "mention",
    replyInThread: config.replyInThread !== false,
    ackReaction,
    language: textOf(config.language),
    actions: host === "" ? undefined : { host, port: Number(config.actionsPort ?? 0), publicUrl },
  };
  return { settings, problems };
}

/** The settings. Throws `config_invalid`, naming the field that is wrong. */
export function mattermostSettings(config: Readonly<Record<string, unknown>>): MattermostSettings {
  const { settings, problems } = readSettings(config);
  const [problem] = problems;
  if (problem !== undefined) throw new ServiceError("config_invalid", problem.message);
  return settings;
}

function addressOf(field: string, value: unknown, problems: SettingsProblem[]): string {
  const text = textOf(value);
  if (text === "") return "";
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isHttp = url?.protocol === "http:" || url?.protocol === "https:";
  if (url === undefined || !isHttp || url.username + url.password + url.search + url.hash !== "") {
    problems.push({
      field,
      message: `${field} is no address of a server: expected such as https://chat.example.com`,
    });
    return "";
  }
  return url.href.replace(/\/+$/, "");
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value.trim() : "";
}

function quoted(value: string): string {
  return JSON.stringify(value.slice(0, 80));
}
