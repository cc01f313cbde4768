/**
 * An account of the channel on the mail servers of a test.
 *
 * @module
 */

import { type Clock, systemClock } from "../../../lib/base/clock.ts";
import type { InboundMessage } from "../../../lib/contract/inbound_message.ts";
import type { OutboundMessage } from "../../../lib/contract/outbound_message.ts";
import { FakeHost } from "../../../lib/channel/testing/fake_host.ts";
import { configFor } from "../../../lib/channel/testing/trial.ts";
import type { EmailConfig } from "../account/settings.ts";
import manifest from "../manifest.ts";
import { EmailChannel } from "../runtime.ts";
import { MAIL_PASSWORD, type MailServers } from "./mail_servers.ts";

/** The section of an account that finds the servers. */
export function sectionOf(
  { imap, smtp, caFile }: MailServers,
  more: Record<string, unknown> = {},
): Record<string, unknown> {
  return {
    address: "agent@test",
    fromName: "Agent",
    password: MAIL_PASSWORD,
    imapHost: "localhost",
    imapPort: imap.tlsPort,
    imapTls: "tls",
    smtpHost: "localhost",
    smtpPort: smtp.tlsPort,
    smtpTls: "tls",
    tlsCaFile: caFile,
    authservId: "mx.test",
    allowFrom: ["alice@test", "bob@test"],
    ...more,
  };
}

/** A channel that runs. */
export interface TestAccount extends AsyncDisposable {
  channel: EmailChannel;
  host: FakeHost<Clock>;
  /** Resolves when so many messages were accepted, repeats too. */
  published(count: number): Promise<InboundMessage[]>;
  /** Resolves when something is so, which is looked at with each line of the log and each message. */
  until(holds: () => boolean): Promise<void>;
}

/** A host whose time goes on. */
export function openHost(name = "email"): Promise<FakeHost<Clock>> {
  return FakeHost.openWith({ name, clock: systemClock as Clock });
}

/** What the runtime is given of a section. */
export function emailConfig(section: Record<string, unknown>): EmailConfig {
  return configFor(manifest, { section }) as unknown as EmailConfig;
}

/** Starts one, and waits until it is connected. */
export async function startAccount(
  section: Record<string, unknown>,
  { name, host }: { name?: string; host?: FakeHost<Clock> } = {},
): Promise<TestAccount> {
  host ??= await openHost(name);
  const channel = new EmailChannel(emailConfig(section), host);
  const ended = channel.start();
  ended.catch(() => {});
  const given = host;
  const until = async (holds: () => boolean) => {
    for (const end = Date.now() + 60_000; !holds();) {
      if (Date.now() > end) {
        throw new Error(`It did not come to that: ${JSON.stringify([given.details, given.lines])}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  };
  const connected = given.details.length;
  await until(() =>
    given.details.slice(connected).some((detail) => detail.startsWith("connected"))
  );
  return {
    channel,
    host: given,
    until,
    async published(count) {
      await until(() => given.published.length >= count);
      return given.published;
    },
    async [Symbol.asyncDispose]() {
      await channel.stop();
      await ended;
    },
  };
}

/** An answer to a message. */
export function answerTo(
  { chatId, metadata = {} }: InboundMessage,
  more: Partial<OutboundMessage> = {},
): OutboundMessage {
  return {
    id: crypto.randomUUID(),
    channel: "email",
    chatId,
    content: "An answer",
    media: [],
    metadata,
    ...more,
  };
}
