/**
 * Looks at the settings of an account, and logs in with them.
 * Writes nothing, and sends nothing.
 *
 * @module
 */

import { systemClock } from "../../lib/base/clock.ts";
import type { SetupContext, SetupFinding } from "../../lib/channel/descriptor.ts";
import { askPlatform, readCaCerts } from "../../lib/channel/platform/mod.ts";
import { error, warning } from "../../lib/channel/setup/findings.ts";
import { areRoomPasswords, readSettings, type XmppConfig, type XmppSettings } from "./settings.ts";
import { StanzaError } from "./client/stanza_error.ts";
import { XmppSession } from "./client/xmpp_session.ts";
import { findUpload } from "./files/upload.ts";
import { accountFeatures, discover } from "./client/discover.ts";

/** What is wrong, or may be; nothing for settings that work. */
export async function validate(
  values: Readonly<Record<string, unknown>>,
  { signal }: SetupContext,
): Promise<SetupFinding[]> {
  const config = values as unknown as XmppConfig;
  const { settings, problems } = readSettings(config);
  if (!areRoomPasswords(config.roomPasswords)) {
    const message =
      "roomPasswords is no list such as room@conference.example.org password, other@…";
    problems.push(error("roomPasswords", message));
  }
  if (problems.length > 0) return problems;
  return await askPlatform({ login: "password", address: "host" }, async (found) => {
    const session = await openProbe(settings, await readCaCerts(settings.caFile), signal);
    try {
      await look(session, settings, found);
    } finally {
      await session.close();
    }
  });
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
    onStanza: () => undefined,
  }, signal);
}

async function look(
  session: XmppSession,
  settings: XmppSettings,
  findings: SetupFinding[],
): Promise<void> {
  const { hasArchive } = await accountFeatures(session);
  if (!hasArchive) {
    findings.push(warning(
      "host",
      "The server keeps no archive (XEP-0313): what is written while the service is down " +
        "is heard only where the server keeps it otherwise",
    ));
  }
  for (const { jid } of settings.rooms) {
    try {
      await discover(session, jid);
    } catch (reason) {
      const isThere = reason instanceof StanzaError &&
        !["item-not-found", "remote-server-not-found", "service-unavailable"].includes(
          reason.condition,
        );
      if (isThere) continue;
      const said = reason instanceof Error ? reason.message : String(reason);
      findings.push(warning("rooms", `The room ${jid} cannot be found: ${said}`));
    }
  }
  if (settings.uploadUrl !== undefined) {
    const upload = await findUpload(session, settings.jid.domain);
    if (upload === undefined) {
      findings.push(
        warning("uploadUrl", "The server keeps no files (XEP-0363), and uploadUrl is set"),
      );
    }
  }
}
