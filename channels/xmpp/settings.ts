/**
 * A section of the channel as its parts use it, every rule of a field and between fields checked.
 *
 * @module
 */

import type { SectionOf } from "../../lib/channel/base_channel.ts";
import type { SetupFinding } from "../../lib/channel/descriptor.ts";
import { error, isLoopback, refuseErrors } from "../../lib/channel/setup/findings.ts";
import { foldJid, type Jid, parseJid } from "./client/jid.ts";
import type manifest from "./manifest.ts";

/** The section, as the manifest describes it. */
export type XmppConfig = SectionOf<typeof manifest>;

/** A room to be in. */
export interface WantedRoom {
  /** Its bare address. */
  jid: string;
  nick: string;
  password?: string;
}

/** The section, read: addresses folded, `nick` filled in. */
export interface XmppSettings extends Omit<XmppConfig, "jid" | "rooms" | "uploadUrl"> {
  jid: Jid;
  rooms: readonly WantedRoom[];
  /** Where the files of the server are; undefined for none. */
  uploadUrl: URL | undefined;
}

const DEFAULT_RESOURCE = "service";

/** The settings. Throws `config_invalid`, naming the first field that is wrong. */
export function xmppSettings(config: XmppConfig): XmppSettings {
  const { settings, problems } = readSettings(config);
  refuseErrors(problems);
  return settings;
}

/** The settings, and everything that is wrong with them. No secret is in a message. */
export function readSettings(
  config: XmppConfig,
): { settings: XmppSettings; problems: SetupFinding[] } {
  const problems: SetupFinding[] = [];
  const wrong = (field: string, message: string) => void problems.push(error(field, message));
  const { host, tls } = config;
  const jid = parseJid(foldJid(config.jid));
  if (jid === undefined || jid.local === "") {
    wrong("jid", `jid is ${shown(config.jid)}, expected an address such as agent@example.org`);
  }
  const resource = config.resource || jid?.resource || DEFAULT_RESOURCE;
  if (parseJid(`a/${resource}`) === undefined) {
    wrong("resource", `resource is ${shown(resource)}, expected a text without control characters`);
  }
  if (tls === "none" && !isLoopback(host)) {
    wrong(
      "tls",
      `tls is none, and ${host} is not this machine: the password would go in the clear`,
    );
  }
  const nick = config.nick || jid?.local || "";
  if (parseJid(`a/${nick || "x"}`) === undefined) {
    wrong("nick", `nick is ${shown(nick)}, expected a text without control characters`);
  }
  const rooms = readRooms(config.rooms, config.roomPasswords, nick, wrong);
  for (const one of config.inviteFrom) {
    const parsed = parseJid(one);
    if (parsed === undefined || parsed.local === "" || parsed.resource !== "") {
      wrong(
        "inviteFrom",
        `inviteFrom holds ${shown(one)}, expected addresses such as ann@example.org`,
      );
    }
  }
  const settings: XmppSettings = {
    ...config,
    jid: { local: jid?.local ?? "", domain: jid?.domain ?? "", resource },
    nick,
    rooms,
    inviteFrom: config.inviteFrom.map(foldJid),
    uploadUrl: config.uploadUrl === "" ? undefined : new URL(config.uploadUrl),
  };
  return { settings, problems };
}

/** A room and its password. */
const PAIR = /^(\S+)\s+(.+)$/;

/** Whether each part of `roomPasswords` is a room and its password. */
export function areRoomPasswords(text: string): boolean {
  return pairsOf(text).every((pair) => PAIR.test(pair));
}

function pairsOf(text: string): string[] {
  return text.split(/[,\n]/).map((one) => one.trim()).filter(Boolean);
}

/** Rooms, `room@conference.example.org` or `…/nick`, with passwords of `<room> <password>, …`. */
function readRooms(
  entries: readonly string[],
  passwords: string,
  nick: string,
  wrong: (field: string, message: string) => void,
): WantedRoom[] {
  const keys = new Map<string, string>();
  for (const pair of pairsOf(passwords)) {
    const [, room, key] = PAIR.exec(pair) ?? [];
    if (room !== undefined) keys.set(foldJid(room), key!);
  }
  const rooms = new Map<string, WantedRoom>();
  for (const entry of entries) {
    const parsed = parseJid(foldJid(entry));
    if (parsed === undefined || parsed.local === "") {
      wrong(
        "rooms",
        `rooms holds ${shown(entry)}, expected rooms such as room@conference.example.org`,
      );
      continue;
    }
    const jid = `${parsed.local}@${parsed.domain}`;
    const password = keys.get(jid);
    rooms.set(jid, {
      jid,
      nick: parsed.resource || nick,
      ...password !== undefined && { password },
    });
  }
  return [...rooms.values()];
}

function shown(value: string): string {
  return JSON.stringify(value.slice(0, 80));
}
