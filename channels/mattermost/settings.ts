/**
 * The section of an instance, as the runtime goes by it.
 *
 * @module
 */

import type { PackageConfig } from "../../lib/channel/base_channel.ts";
import type { SetupFinding } from "../../lib/channel/descriptor.ts";
import { error, refuseErrors } from "../../lib/channel/setup/findings.ts";

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

/** What is set, and what is wrong with it. */
export function readSettings(
  config: Readonly<Record<string, unknown>>,
): { settings: MattermostSettings; problems: SetupFinding[] } {
  const problems: SetupFinding[] = [];
  const ackReaction = textOf(config.ackReaction ?? "eyes").replace(/^:|:$/g, "").toLowerCase();
  if (!/^[a-z0-9+_-]{0,64}$/.test(ackReaction)) {
    problems.push(
      error("ackReaction", `ackReaction is ${quoted(ackReaction)}: expected a name such as eyes`),
    );
  }
  const team = textOf(config.team).replace(/^~/, "");
  if (!/^[a-z0-9-]{0,64}$/.test(team)) {
    problems.push(
      error("team", `team is ${quoted(team)}: expected its name in the address, such as my-team`),
    );
  }
  const host = textOf(config.actionsHost);
  if (/[\s/]/.test(host)) {
    problems.push(
      error("actionsHost", `actionsHost is ${quoted(host)}: expected an address such as 127.0.0.1`),
    );
  }
  const settings: MattermostSettings = {
    url: textOf(config.url),
    token: textOf(config.token),
    caFile: textOf(config.caFile),
    team,
    respond: config.respond === "all" ? "all" : "mention",
    replyInThread: config.replyInThread !== false,
    ackReaction,
    language: textOf(config.language),
    actions: host === ""
      ? undefined
      : { host, port: Number(config.actionsPort ?? 0), publicUrl: textOf(config.actionsUrl) },
  };
  return { settings, problems };
}

/** The settings. Throws `config_invalid`, naming the field that is wrong. */
export function mattermostSettings(config: Readonly<Record<string, unknown>>): MattermostSettings {
  const { settings, problems } = readSettings(config);
  refuseErrors(problems);
  return settings;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value.trim() : "";
}

function quoted(value: string): string {
  return JSON.stringify(value.slice(0, 80));
}
