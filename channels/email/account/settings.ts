/**
 * A section of the channel as its parts use it, every rule of a single field and between fields checked.
 *
 * @module
 */

import type { PackageConfig } from "../../../lib/channel/base_channel.ts";
import type { SetupFinding } from "../../../lib/channel/descriptor.ts";
import { error, isLoopback, refuseErrors } from "../../../lib/channel/setup/findings.ts";
import { isAddress } from "../mail/address.ts";
import type { MailTlsMode } from "./tls_modes.ts";

/** The section, as the manifest describes it. */
export interface EmailConfig extends PackageConfig {
  address: string;
  fromName: string;
  username: string;
  password: string;
  imapHost: string;
  imapPort: number;
  imapTls: MailTlsMode;
  mailbox: string;
  smtpHost: string;
  smtpPort: number;
  smtpTls: MailTlsMode;
  smtpUsername: string;
  smtpPassword: string;
  tlsCaFile: string;
  authservId: string;
  requireAuthentication: boolean;
  subject: string;
  maxMessageMb: number;
  maxAgeDays: number;
  pollIntervalS: number;
  maxAnswersPerHour: number;
}

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

const DAY_MS = 24 * 60 * 60 * 1_000;

/** The settings. Throws `config_invalid`, naming the first field that is wrong. */
export function emailSettings(config: EmailConfig): EmailSettings {
  const { settings, problems } = readSettings(config);
  refuseErrors(problems);
  return settings;
}

/** The settings, and everything that is wrong with them. No secret is in a message. */
export function readSettings(
  config: EmailConfig,
): { settings: EmailSettings; problems: SetupFinding[] } {
  const problems: SetupFinding[] = [];
  const wrong = (field: keyof EmailConfig, expected: string) =>
    problems.push(
      error(
        field,
        `${field} is ${JSON.stringify(config[field]).slice(0, 80)}, expected ${expected}`,
      ),
    );
  const address = config.address.toLowerCase();
  if (!isAddress(address)) wrong("address", "an address such as agent@example.com");
  const username = config.username || address;
  const { password, tlsCaFile, requireAuthentication } = config;
  const imap: MailServer = {
    host: config.imapHost,
    port: config.imapPort,
    tls: config.imapTls,
    username,
    password,
  };
  const smtp: MailServer = {
    host: config.smtpHost,
    port: config.smtpPort,
    tls: config.smtpTls,
    username: config.smtpUsername || username,
    password: config.smtpPassword || password,
  };
  for (const [field, server] of [["imapTls", imap], ["smtpTls", smtp]] as const) {
    if (server.tls === "none" && !isLoopback(server.host)) {
      wrong(field, "tls or starttls, as the server is not on this machine");
    }
  }
  if (tlsCaFile !== "" && !tlsCaFile.startsWith("/")) wrong("tlsCaFile", "an absolute path");
  const authservId = config.authservId.toLowerCase();
  if (requireAuthentication && authservId === "") {
    problems.push(error(
      "authservId",
      "authservId is not set, and requireAuthentication is on: expected the name that " +
        "the server puts first in Authentication-Results",
    ));
  }
  return {
    problems,
    settings: {
      address,
      fromName: oneLine(config.fromName),
      imap,
      smtp,
      mailbox: config.mailbox || "INBOX",
      tlsCaFile: tlsCaFile === "" ? undefined : tlsCaFile,
      authservId,
      requireAuthentication,
      subject: oneLine(config.subject) || "A message for you",
      maxMessageBytes: config.maxMessageMb * 1024 * 1024,
      maxAgeMs: config.maxAgeDays * DAY_MS,
      pollMs: config.pollIntervalS * 1_000,
      maxAnswersPerHour: config.maxAnswersPerHour,
    },
  };
}

/** Text without line breaks and other control characters, which end a header. */
export function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, " ").trim();
}
