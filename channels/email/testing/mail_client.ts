/**
 * A person with a mailbox, in a test: writes mails as they are, and looks into mailboxes.
 *
 * @module
 */

import type { ImapFlow } from "imapflow";
import nodemailer from "nodemailer";
import PostalMime, { type Email } from "postal-mime";
import { loadImapFlow } from "../imap/load_imapflow.ts";
import { MAIL_PASSWORD, type MailServers, VERIFIED_HELO } from "./mail_servers.ts";

/** A mail in a mailbox. */
export interface StoredMail {
  uid: number;
  seen: boolean;
  email: Email;
}

/** How a mail is handed in. */
export interface DeliverOptions {
  from?: string;
  to?: string;
  /** Whether the server vouches for its sender. */
  verified?: boolean;
}

/** Hands a mail in, line ends made CRLF; resolves when the server has it. */
export async function deliver(
  { smtp }: Pick<MailServers, "smtp">,
  raw: string | Uint8Array,
  { from = "alice@test", to = "agent@test", verified = true }: DeliverOptions = {},
): Promise<void> {
  const sender = nodemailer.createTransport({
    host: "127.0.0.1",
    port: smtp.port,
    ignoreTLS: true,
    name: verified ? VERIFIED_HELO : "stranger.test",
  });
  try {
    await sender.sendMail({
      envelope: { from, to },
      raw: typeof raw === "string" ? raw.replace(/\r?\n/g, "\r\n") : raw as Buffer,
    });
  } finally {
    sender.close();
  }
}

/** A mail of alice's to the agent. */
export function plainMail(
  { id, subject = "Hello", text = "Hello there", from = "Alice <alice@test>", more = [] }: {
    id: string;
    subject?: string;
    text?: string;
    from?: string;
    more?: string[];
  },
): string {
  return [
    `From: ${from}`,
    "To: agent@test",
    `Subject: ${subject}`,
    `Message-ID: ${id}`,
    "Date: Mon, 2 Feb 2026 10:00:00 +0000",
    "MIME-Version: 1.0",
    "Content-Type: text/plain; charset=utf-8",
    ...more,
    "",
    text,
    "",
  ].join("\n");
}

/** A look into the mailbox of a user. */
export async function withMailbox<T>(
  { imap }: Pick<MailServers, "imap">,
  user: string,
  look: (client: ImapFlow) => Promise<T>,
): Promise<T> {
  const { ImapFlow } = await loadImapFlow();
  const client = new ImapFlow({
    host: "127.0.0.1",
    port: imap.port,
    secure: false,
    doSTARTTLS: false,
    auth: { user: `${user}@test`, pass: MAIL_PASSWORD },
    logger: false,
    disableAutoIdle: true,
  });
  client.on("error", () => {});
  await client.connect();
  try {
    await client.mailboxOpen("INBOX");
    return await look(client);
  } finally {
    await client.logout();
  }
}

/** All mails of a user. */
export function mailsOf(servers: Pick<MailServers, "imap">, user: string): Promise<StoredMail[]> {
  return withMailbox(servers, user, async (client) => {
    const mails: StoredMail[] = [];
    // A range of nothing is an error.
    if (client.mailbox && client.mailbox.exists === 0) return mails;
    for await (
      const { uid, flags, source } of client.fetch("1:*", { uid: true, flags: true, source: true })
    ) {
      mails.push({
        uid,
        seen: flags?.has("\\Seen") ?? false,
        email: await PostalMime.parse(source!),
      });
    }
    return mails;
  });
}

/** Resolves with the mails of a user as soon as they are as many, and as they should be. */
export async function mailsArrived(
  servers: Pick<MailServers, "imap">,
  user: string,
  count: number,
  are: (mails: StoredMail[]) => boolean = () => true,
): Promise<StoredMail[]> {
  for (const until = Date.now() + 60_000;;) {
    const mails = await mailsOf(servers, user);
    if (mails.length >= count && are(mails)) return mails;
    if (Date.now() > until) {
      throw new Error(
        `${user} has ${mails.length} mails, expected ${count} that are as they should be`,
      );
    }
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
}
