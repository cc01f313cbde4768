/**
 * Looks at the settings of an account, and logs in with them.
 * Writes nothing, and sends nothing.
 *
 * @module
 */

import { systemClock } from "../../lib/base/clock.ts";
import { LoginRefusedError } from "../../lib/channel/delivery_error.ts";
import type { SetupContext, SetupFinding } from "../../lib/channel/descriptor.ts";
import { ServiceError } from "../../lib/base/errors.ts";
import { areRoomPasswords, isThisMachine, readSettings, type XmppSettings } from "./settings.ts";
import { readCaCerts } from "./client/ca_certs.ts";
import { NS } from "./client/namespaces.ts";
import { StanzaError } from "./client/stanza_error.ts";
import { xml } from "./client/xmpp_library.ts";
import { XmppSession } from "./client/xmpp_session.ts";
import { findUpload } from "./files/upload.ts";
import { accountFeatures } from "./messages/outbox.ts";

/** What is wrong, or may be; nothing for settings that work. */
export async function validate(
  values: Readonly<Record<string, unknown>>,
  { allowLocalServiceAccess, signal }: SetupContext,
): Promise<SetupFinding[]> {
  const { settings, problems } = readSettings(values);
  const findings: SetupFinding[] = problems.map((problem) => ({ level: "error", ...problem }));
  if (!areRoomPasswords(String(values.roomPasswords ?? ""))) {
    const message =
      "roomPasswords is no list such as room@conference.example.org password, other@…";
    findings.push({ level: "error", field: "roomPasswords", message });
  }
  if (!allowLocalServiceAccess) {
    for (
      const [field, host] of [["host", settings.host], [
        "uploadUrl",
        settings.uploadUrl?.hostname ?? "",
      ]] as const
    ) {
      if (host === "" || !isLocal(host)) continue;
      const message = `${host} is in the network of this machine, which channels may not use`;
      findings.push({ level: "error", field, message });
    }
  }
  if (findings.length > 0) return findings;
  let caCerts: string[];
  try {
    caCerts = await readCaCerts(settings.caFile);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return [{ level: "error", field: "caFile", message: error.message }];
  }
  let session: XmppSession;
  try {
    session = await openProbe(settings, caCerts, signal);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    if (error instanceof LoginRefusedError) return [{ level: "error", field: "password", message }];
    const at = `${settings.host}:${settings.port}`;
    return [{ level: "warning", field: "host", message: `${at} cannot be used: ${message}` }];
  }
  try {
    return await look(session, settings);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return [{ level: "warning", field: "host", message: `It cannot be looked at: ${message}` }];
  } finally {
    await session.close();
  }
}

/** With a resource of its own, so that a channel that runs stays connected. */
function openProbe(
  { host, port, tls, jid, password }: XmppSettings,
  caCerts: readonly string[],
  signal: AbortSignal,
): Promise<XmppSession> {
  return XmppSession.open({
    address: { host, port, tls, domain: jid.domain, caCerts },
    login: {
      local: jid.local,
      domain: jid.domain,
      password,
      resource: `check-${crypto.randomUUID().slice(0, 8)}`,
    },
    clock: systemClock,
    room: () => undefined,
    onStanza: () => undefined,
    questions: [],
  }, signal);
}

async function look(session: XmppSession, settings: XmppSettings): Promise<SetupFinding[]> {
  const findings: SetupFinding[] = [];
  const { hasArchive } = await accountFeatures(session);
  if (!hasArchive) {
    findings.push({
      level: "warning",
      field: "host",
      message:
        "The server keeps no archive (XEP-0313): what is written while the service is down " +
        "is heard only where the server keeps it otherwise",
    });
  }
  for (const { jid } of settings.rooms) {
    try {
      await session.request("get", jid, xml("query", { xmlns: NS.discoInfo }));
    } catch (error) {
      const isThere = error instanceof StanzaError &&
        !["item-not-found", "remote-server-not-found", "service-unavailable"].includes(
          error.condition,
        );
      if (isThere) continue;
      const reason = error instanceof Error ? error.message : String(error);
      findings.push({
        level: "warning",
        field: "rooms",
        message: `The room ${jid} cannot be found: ${reason}`,
      });
    }
  }
  if (settings.uploadUrl !== undefined) {
    const upload = await findUpload(session, settings.jid.domain);
    if (upload === undefined) {
      findings.push({
        level: "warning",
        field: "uploadUrl",
        message: "The server keeps no files (XEP-0363), and uploadUrl is set",
      });
    }
  }
  return findings;
}

/** By its name or number alone: a place asks no name server. */
function isLocal(host: string): boolean {
  const plain = host.replace(/^\[|\]$/g, "").toLowerCase();
  return isThisMachine(host) || plain.endsWith(".localhost") || plain.endsWith(".local") ||
    /^(?:0|10|127)\.|^192\.168\.|^169\.254\.|^172\.(?:1[6-9]|2\d|3[01])\./.test(plain) ||
    (plain.includes(":") && !/^2|^3/.test(plain));
}
