/**
 * A section of the channel as its parts use it, every rule of a single field and between fields checked.
 *
 * @module
 */

import { ServiceError } from "../../../lib/base/errors.ts";
import { isAddress } from "../mail/address.ts";
import { MAIL_TLS_MODES, type MailTlsMode } from "./tls_modes.ts";

/** Where and how to log in. */
export interface MailServer {
  host: string;
  port: number;
  tls: MailTlsMode;
  username: string;
  password: string;
}

export interface EmailSettings {
  /** In small letters. */
  address: string;
  fromName: string;
  imap: MailServer;
  smtp: MailServer;
  mailbox: string;
  /** Path of a PEM file; undefined for the usual certificates. */
  tlsCaFile: string | undefined;
  /** In small letters; empty where nothing is required. */
  authservId: string;
  requireAuthentication: boolean;
  subject: string;
  /** A mail of so many bytes is refused. */
  maxMessageBytes: number;
  maxAgeMs: number;
  pollMs: number;
  maxAnswersPerHour: number;
}

/** What is wrong with one field. */
export interface SettingsProblem {
  field: string;
  message: string;
}

const DAY_MS = 24 * 60 * 60 * 1_000;

/** The settings. Throws `config_invalid`, naming the first field that is wrong. */
export function emailSettings(values: Readonly<Record<string, unknown>>): EmailSettings {
  const { settings, problems } = readSettings(values);
  const [first] = problems;
  if (first === undefined) return settings;
  throw new ServiceError("config_invalid", `Cannot use this email account: ${first.message}`, {
    param: first.field,
  });
}

/** The settings, and everything that is wrong with them. No secret is in a message. */
export function readSettings(
  values: Readonly<Record<string, unknown>>,
): { settings: EmailSettings; problems: SettingsProblem[] } {
  const problems: SettingsProblem[] = [];
  const wrong = (field: string, expected: string) =>
    problems.push({
      field,
      message: `${field} is ${shown(field, values[field])}, expected ${expected}`,
    });
  const text = (field: string) => {
    const value = values[field] ?? "";
    if (typeof value === "string") return value;
    wrong(field, "a text");
    return "";
  };
  const whole = (field: string, usual: number, min: number, max: number) => {
    const value = values[field] ?? usual;
    if (Number.isInteger(value) && Number(value) >= min && Number(value) <= max) {
      return Number(value);
    }
    wrong(field, `an integer from ${min} to ${max}`);
    return usual;
  };
  const mode = (field: string): MailTlsMode => {
    const value = values[field] ?? "tls";
    const found = MAIL_TLS_MODES.find((one) => one === value);
    if (found === undefined) wrong(field, `one of ${MAIL_TLS_MODES.join(", ")}`);
    return found ?? "tls";
  };
  const host = (field: string) => {
    const value = text(field).trim();
    if (
      !/^(?:[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?|\[[0-9A-Fa-f:.]{2,45}\])$/.test(value)
    ) {
      wrong(field, "a host name, or an address with IPv6 in brackets");
    }
    return value;
  };

  const address = text("address").trim().toLowerCase();
  if (!isAddress(address)) wrong("address", "an address such as agent@example.com");
  const username = text("username").trim() || address;
  const password = text("password");
  if (password === "") problems.push({ field: "password", message: "password is not set" });
  const imap: MailServer = {
    host: host("imapHost"),
    port: whole("imapPort", 993, 1, 65_535),
    tls: mode("imapTls"),
    username,
    password,
  };
  const smtp: MailServer = {
    host: host("smtpHost"),
    port: whole("smtpPort", 465, 1, 65_535),
    tls: mode("smtpTls"),
    username: text("smtpUsername").trim() || username,
    password: text("smtpPassword") || password,
  };
  for (const [field, server] of [["imapTls", imap], ["smtpTls", smtp]] as const) {
    if (server.tls === "none" && !isThisMachine(server.host)) {
      wrong(field, "tls or starttls, as the server is not on this machine");
    }
  }
  const tlsCaFile = text("tlsCaFile").trim();
  if (tlsCaFile !== "" && !tlsCaFile.startsWith("/")) wrong("tlsCaFile", "an absolute path");
  const requireAuthentication = values.requireAuthentication ?? true;
  if (typeof requireAuthentication !== "boolean") wrong("requireAuthentication", "true or false");
  const authservId = text("authservId").trim().toLowerCase();
  if (requireAuthentication !== false && authservId === "") {
    problems.push({
      field: "authservId",
      message: "authservId is not set, and requireAuthentication is on: expected the name that " +
        "the server puts first in Authentication-Results",
    });
  }
  return {
    problems,
    settings: {
      address,
      fromName: oneLine(text("fromName")),
      imap,
      smtp,
      mailbox: text("mailbox").trim() || "INBOX",
      tlsCaFile: tlsCaFile === "" ? undefined : tlsCaFile,
      authservId,
      requireAuthentication: requireAuthentication !== false,
      subject: oneLine(text("subject")) || "A message for you",
      maxMessageBytes: whole("maxMessageMb", 25, 1, 50) * 1024 * 1024,
      maxAgeMs: whole("maxAgeDays", 3, 1, 7) * DAY_MS,
      pollMs: whole("pollIntervalS", 120, 5, 1_200) * 1_000,
      maxAnswersPerHour: whole("maxAnswersPerHour", 20, 1, 1_000),
    },
  };
}

/** Whether a host is this machine by its very name. */
function isThisMachine(host: string): boolean {
  return /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/i.test(host);
}

/** Text without line breaks and other control characters, which end a header. */
export function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, " ").trim();
}

function shown(field: string, value: unknown): string {
  if (/password/i.test(field)) return "what it is";
  return typeof value === "string" ? JSON.stringify(value.slice(0, 80)) : String(typeof value);
}
