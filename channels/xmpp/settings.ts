/**
 * A section of the channel as its parts use it, every rule of a field and between fields checked.
 *
 * @module
 */

import { ServiceError } from "../../lib/base/errors.ts";
import { foldJid, type Jid, parseJid } from "./client/jid.ts";
import { XMPP_TLS_MODES } from "./client/xmpp_socket.ts";

/** A room to be in. */
export interface WantedRoom {
  /** Its bare address. */
  jid: string;
  nick: string;
  password?: string;
}

export interface XmppSettings {
  jid: Jid;
  password: string;
  host: string;
  port: number;
  tls: typeof XMPP_TLS_MODES[number];
  /** Path of a PEM file; empty for the usual certificates. */
  caFile: string;
  nick: string;
  rooms: readonly WantedRoom[];
  respond: "mention" | "all";
  /** Bare addresses of people whose invitations are taken. */
  inviteFrom: readonly string[];
  /** Addresses or nicks of bots. */
  ignore: readonly string[];
  /** Where the files of the server are; undefined for none. */
  uploadUrl: URL | undefined;
  /** Of what the channel itself says. */
  language: typeof LANGUAGES[number];
}

/** What is wrong with one field. */
export interface SettingsProblem {
  field: string;
  message: string;
}

type Values = Readonly<Record<string, unknown>>;

const LANGUAGES = ["en", "de", "es", "zh"] as const;
const DEFAULT_RESOURCE = "service";

/** The settings. Throws `config_invalid`, naming the first field that is wrong. */
export function xmppSettings(values: Values): XmppSettings {
  const { settings, problems } = readSettings(values);
  const [first] = problems;
  if (first === undefined) return settings;
  throw new ServiceError("config_invalid", `Cannot use this XMPP account: ${first.message}`, {
    param: first.field,
  });
}

/** The settings, and everything that is wrong with them. No secret is in a message. */
export function readSettings(
  values: Values,
): { settings: XmppSettings; problems: SettingsProblem[] } {
  const problems: SettingsProblem[] = [];
  const wrong = (field: string, message: string) => void problems.push({ field, message });
  const text = (field: string) => {
    const value = values[field];
    return typeof value === "string" ? value.trim() : "";
  };
  const list = (field: string) => {
    const value = values[field];
    return Array.isArray(value)
      ? value.filter((one) => typeof one === "string").map((one) => one.trim()).filter(Boolean)
      : [];
  };
  const choice = <T extends string>(field: string, choices: readonly T[], usual: T): T => {
    const value = values[field] ?? usual;
    const found = choices.find((one) => one === value);
    if (found === undefined) wrong(field, `${field} is no one of ${choices.join(", ")}`);
    return found ?? usual;
  };
  const jid = parseJid(foldJid(text("jid")));
  if (jid === undefined || jid.local === "") {
    wrong("jid", `jid is ${shown(text("jid"))}, expected an address such as agent@example.org`);
  }
  const resource = text("resource") || jid?.resource || DEFAULT_RESOURCE;
  if (parseJid(`a/${resource}`) === undefined) {
    wrong("resource", `resource is ${shown(resource)}, expected a text without control characters`);
  }
  const host = text("host");
  if (host === "") wrong("host", "host is empty, expected the server, such as xmpp.example.org");
  else if (!/^(?:[A-Za-z0-9._-]+|[0-9A-Fa-f]*:[0-9A-Fa-f:.]*:[0-9A-Fa-f.]*)$/.test(host)) {
    wrong("host", `host is ${shown(host)}, expected a name or address without a port`);
  }
  const port = Number(values.port ?? 5222);
  if (!Number.isInteger(port) || port < 1 || port > 65_535) {
    wrong("port", `port is ${shown(String(values.port))}, expected an integer from 1 to 65535`);
  }
  const tls = choice("tls", XMPP_TLS_MODES, "starttls");
  if (tls === "none" && host !== "" && !isThisMachine(host)) {
    wrong(
      "tls",
      `tls is none, and ${host} is not this machine: the password would go in the clear`,
    );
  }
  const nick = text("nick") || jid?.local || "";
  if (parseJid(`a/${nick || "x"}`) === undefined) {
    wrong("nick", `nick is ${shown(nick)}, expected a text without control characters`);
  }
  const rooms = readRooms(list("rooms"), text("roomPasswords"), nick, wrong);
  for (const field of ["inviteFrom"] as const) {
    for (const one of list(field)) {
      const parsed = parseJid(one);
      if (parsed === undefined || parsed.local === "" || parsed.resource !== "") {
        wrong(field, `${field} holds ${shown(one)}, expected addresses such as ann@example.org`);
      }
    }
  }
  const uploadText = text("uploadUrl");
  const uploadUrl = uploadText === "" ? undefined : URL.parse(uploadText) ?? undefined;
  const isPlainHere = uploadUrl?.protocol === "http:" && isThisMachine(uploadUrl.hostname);
  if (uploadText !== "" && uploadUrl?.protocol !== "https:" && !isPlainHere) {
    wrong("uploadUrl", "uploadUrl is no address such as https://upload.example.org");
  }
  const settings: XmppSettings = {
    jid: { local: jid?.local ?? "", domain: jid?.domain ?? "", resource },
    password: typeof values.password === "string" ? values.password : "",
    host,
    port,
    tls,
    caFile: text("caFile"),
    nick,
    rooms,
    respond: choice("respond", ["mention", "all"], "mention"),
    inviteFrom: list("inviteFrom").map(foldJid),
    ignore: list("ignore"),
    uploadUrl,
    language: choice("language", LANGUAGES, "en"),
  };
  return { settings, problems };
}

/** A room and its password. */
const PAIR = /^(\S+)\s+(.+)$/;

/** Whether each part of `roomPasswords` is a room and its password. */
export function areRoomPasswords(text: string): boolean {
  return text.split(/[,\n]/).map((one) => one.trim()).filter(Boolean).every((one) =>
    PAIR.test(one)
  );
}

/** Rooms, `room@conference.example.org` or `…/nick`, with passwords of `<room> <password>, …`. */
function readRooms(
  entries: readonly string[],
  passwords: string,
  nick: string,
  wrong: (field: string, message: string) => void,
): WantedRoom[] {
  const keys = new Map<string, string>();
  for (const pair of passwords.split(/[,\n]/).map((one) => one.trim()).filter(Boolean)) {
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

/** By its name or number alone. */
function isThisMachine(host: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/i.test(host);
}

function shown(value: string): string {
  return JSON.stringify(value.slice(0, 80));
}
