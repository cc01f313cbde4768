/**
 * Looks at the settings of an account, and logs in with them at both servers. Writes nothing, and sends
 * nothing.
 *
 * @module
 */

import type { SetupContext, SetupFinding } from "../../lib/channel/descriptor.ts";
import { error, warning } from "../../lib/channel/setup/findings.ts";
import { ServiceError } from "../../lib/base/errors.ts";
import { imapOptions, isLoginRefused } from "./imap/imap_session.ts";
import { loadImapFlow } from "./imap/load_imapflow.ts";
import { reasonOf } from "./imap/watch_mailbox.ts";
import { type EmailConfig, type MailServer, readSettings } from "./account/settings.ts";
import { createMailTransport } from "./smtp/mail_transport.ts";
import { type TlsOptions, tlsOptions } from "./account/tls_options.ts";

/** The findings; none where everything is right. */
export async function validate(
  values: Readonly<Record<string, unknown>>,
  { signal }: SetupContext,
): Promise<SetupFinding[]> {
  const { settings, problems } = readSettings(values as unknown as EmailConfig);
  if (problems.length > 0) return problems;
  const findings: SetupFinding[] = [];
  let tls: TlsOptions;
  try {
    tls = await tlsOptions(settings.tlsCaFile);
  } catch (reason) {
    if (!(reason instanceof ServiceError)) throw reason;
    return [error("tlsCaFile", reason.message)];
  }
  if (!settings.requireAuthentication) {
    findings.push(warning(
      "requireAuthentication",
      "requireAuthentication is off: whoever writes an allowed address into From is heard",
    ));
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
  } catch (reason) {
    const at = `${which === "imap" ? "IMAP" : "SMTP"} at ${host}:${port}`;
    if (isLoginRefused(reason) || (reason as { code?: unknown }).code === "EAUTH") {
      const field = which === "imap" ? "password" : "smtpPassword";
      return [error(field, `${at} refuses the name or the password`)];
    }
    return [warning(`${which}Host`, `${at} cannot be used: ${reasonOf(reason)}`)];
  } finally {
    signal.removeEventListener("abort", stop);
    late.promise.catch(() => {});
  }
}
