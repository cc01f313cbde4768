/**
 * The section of an instance, as the runtime goes by it.
 *
 * @module
 */

import type { PackageConfig } from "../../lib/channel/base_channel.ts";
import type { SetupFinding } from "../../lib/channel/descriptor.ts";
import { error, refuseErrors } from "../../lib/channel/setup/findings.ts";

/** The fields of the manifest, defaults included. */
export type WhatsAppConfig = PackageConfig & Readonly<Record<string, unknown>>;

export interface WhatsAppSettings {
  /** Name of the login that linking has left in the channel's folder; empty: none. */
  login: string;
  /** `+` and digits of the number that is linked by a code to type; empty: by a QR code. */
  phone: string;
  respond: "mention" | "all";
  /** Emoji; empty: none. */
  ackReaction: string;
  /** Of notes. */
  language: string;
  /** Of the WebSocket, as of a page. */
  url: URL;
  /** Public key that signs the server's certificates, in hexadecimal digits; empty: WhatsApp's own. */
  serverKey: string;
  /** Told to the server as that of WhatsApp Web; undefined: that of the client library. */
  clientVersion: [number, number, number] | undefined;
}

/** What each of these fields looks like. */
const FORMS: Readonly<Record<string, readonly [form: RegExp, expected: string]>> = {
  serverKey: [/^(?:[\da-f]{64})?$/i, "64 hexadecimal digits"],
  clientVersion: [/^(?:\d{1,9}\.\d{1,9}\.\d{1,10})?$/, "three numbers such as 2.3000.1043857760"],
};

/** Fields that are wrong, and what was expected. */
export function problemsOf(config: Readonly<Record<string, unknown>>): SetupFinding[] {
  return Object.entries(FORMS).flatMap(([field, [form, expected]]) => {
    const value = textOf(config[field]);
    const shown = JSON.stringify(value.slice(0, 80));
    return form.test(value) ? [] : [error(field, `${field} is ${shown}, expected ${expected}`)];
  });
}

/** The settings. Throws `config_invalid`, naming the field that is wrong. */
export function whatsAppSettings(config: Readonly<Record<string, unknown>>): WhatsAppSettings {
  refuseErrors(problemsOf(config));
  const version = textOf(config.clientVersion);
  return {
    login: textOf(config.login),
    phone: textOf(config.phone),
    respond: config.respond === "all" ? "all" : "mention",
    ackReaction: textOf(config.ackReaction),
    language: textOf(config.language),
    url: new URL(textOf(config.url)),
    serverKey: textOf(config.serverKey),
    clientVersion: version === ""
      ? undefined
      : version.split(".").map(Number) as [number, number, number],
  };
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value.trim() : "";
}
