/**
 * Looks at the settings of an account, and logs in with them at both servers. Writes nothing, and sends
 * nothing.
 *
 * @module
 */

import type { SetupContext, SetupFinding } from "../../lib/channel/descriptor.ts";
import { ServiceError } from "../../lib/base/errors.ts";
import { imapOptions, isLoginRefused } from "./imap/imap_session.ts";
import { loadImapFlow } from "./imap/load_imapflow.ts";
import { reasonOf } from "./imap/watch_mailbox.ts";
import { isThisMachine, type MailServer, readSettings } from "./account/settings.ts";
import { createMailTransport } from "./smtp/mail_transport.ts";
import { type TlsOptions, tlsOptions } from "./account/tls_options.ts";

/** The findings; none where everything is right. */
export async function validate(
  values: Readonly<Record<string, unknown>>,
  { allowLocalServiceAccess, signal }: SetupContext,
): Promise<SetupFinding[]> {
  const { settings, problems } = readSettings(values);
  if (problems.length > 0) return problems.map((one) => ({ level: "error", ...one }));
  const findings: SetupFinding[] = [];
  if (!allowLocalServiceAccess) {
    for (
      const [field, { host }] of [["imapHost", settings.imap], ["smtpHost", settings.smtp]] as const
    ) {
      if (!isLocal(host)) continue;
      findings.push({
        level: "error",
        field,
        message:
          `${field} is ${JSON.stringify(host)}, which is on this machine or in its network: ` +
          "channels.allowLocalServiceAccess does not allow that",
      });
    }
    if (findings.length > 0) return findings;
  }
  let tls: TlsOptions;
  try {
    tls = await tlsOptions(settings.tlsCaFile);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return [{ level: "error", field: "tlsCaFile", message: error.message }];
  }
  if (!settings.requireAuthentication) {
    findings.push({
      level: "warning",
      field: "requireAuthentication",
      message: "requireAuthentication is off: whoever writes an allowed address into From is heard",
    });
  }
  const { maxMessageBytes: maxBytes } = settings;
  const [imap, smtp] = await Promise.all([
    probe(
      "imap",
      settings.imap,
      signal,
      (ended) => tryImap({ server: settings.imap, tls, maxBytes }, ended),
    ),
    probe(
      "smtp",
      settings.smtp,
      signal,
      () => createMailTransport(settings.smtp, { tls: () => Promise.resolve(tls) }).verify(),
    ),
  ]);
  return [...findings, ...imap, ...smtp];
}

/** Logs in and out; ended by the signal. */
async function tryImap(
  options: Parameters<typeof imapOptions>[0],
  signal: AbortSignal,
): Promise<void> {
  const { ImapFlow } = await loadImapFlow();
  const client = new ImapFlow({ ...imapOptions(options), verifyOnly: true });
  client.on("error", () => {});
  const end = () => client.close();
  signal.addEventListener("abort", end, { once: true });
  try {
    await client.connect();
  } finally {
    signal.removeEventListener("abort", end);
    client.close();
  }
}

async function probe(
  which: "imap" | "smtp",
  { host, port }: MailServer,
  signal: AbortSignal,
  run: (signal: AbortSignal) => Promise<void>,
): Promise<SetupFinding[]> {
  const late = Promise.withResolvers<never>();
  const stop = () => late.reject(new Error("it did not answer in time"));
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  try {
    await Promise.race([run(signal), late.promise]);
    return [];
  } catch (error) {
    const at = `${which === "imap" ? "IMAP" : "SMTP"} at ${host}:${port}`;
    if (isLoginRefused(error) || (error as { code?: unknown }).code === "EAUTH") {
      const field = which === "imap" ? "password" : "smtpPassword";
      return [{ level: "error", field, message: `${at} refuses the name or the password` }];
    }
    const field = `${which}Host`;
    return [{ level: "warning", field, message: `${at} cannot be used: ${reasonOf(error)}` }];
  } finally {
    signal.removeEventListener("abort", stop);
    late.promise.catch(() => {});
  }
}

/** By its name or number alone: a place asks no name server. */
function isLocal(host: string): boolean {
  const plain = host.replace(/^\[|\]$/g, "").toLowerCase();
  return isThisMachine(host) || plain.endsWith(".localhost") || plain.endsWith(".local") ||
    /^(?:0|10|127)\.|^192\.168\.|^169\.254\.|^172\.(?:1[6-9]|2\d|3[01])\./.test(plain) ||
    (plain.includes(":") && !/^2|^3/.test(plain));
}
