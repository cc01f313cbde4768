/**
 * Mail servers as the conformance kit uses a platform.
 *
 * @module
 */

import { join } from "@std/path";
import PostalMime from "postal-mime";
import type {
  ChannelPlatform,
  PlatformMessage,
  PlatformSent,
} from "../../../lib/channel/testing/channel_platform.ts";
import { threadOfOwn } from "../mail/message_ids.ts";
import { deliver, plainMail } from "./mail_client.ts";
import type { MailServers } from "./mail_servers.ts";
import { Relay } from "./relay.ts";
import { sectionOf } from "./test_account.ts";

const LOOK_MS = 15;

const PEOPLE = ["alice", "bob"];

/** Looks into the folders of the servers, again and again until it is closed. */
export class MailPlatform implements ChannelPlatform {
  readonly section: Readonly<Record<string, unknown>>;
  readonly senders = ["alice@test", "bob@test"] as const;
  readonly chatId = "alice@test#0123456789abcdef";
  readonly #servers: MailServers;
  readonly #own: string;
  readonly #ids = new Map<string, string>();
  readonly #sent: PlatformSent[] = [];
  readonly #acknowledged: string[] = [];
  #last: { raw: string; from: string } | undefined;
  #closed = false;
  #looking: Promise<void> = Promise.resolve();

  readonly #relays: { imap: Relay; smtp: Relay };

  /** `set`: number of the account that is its own, 1 to 64. */
  constructor(servers: MailServers, set: number) {
    this.#servers = servers;
    this.#own = `agent${set}`;
    // People are the same on each; what they had before is none of this one's.
    for (const user of PEOPLE) {
      for (const path of this.#files(user, "new")) this.#ids.set(path, "");
    }
    this.#relays = { imap: new Relay(servers.imap.tlsPort), smtp: new Relay(servers.smtp.tlsPort) };
    // Who may write is the kit's to say.
    const { allowFrom: _, ...section } = sectionOf(servers, {
      address: `${this.#own}@test`,
      imapPort: this.#relays.imap.port,
      smtpPort: this.#relays.smtp.port,
      pollIntervalS: 5,
      maxAnswersPerHour: 1_000,
    });
    this.section = section;
    this.#looking = this.#look();
  }

  async deliver({ text, senderId, from }: PlatformMessage): Promise<string> {
    // What lay there before it was connected is nobody's message.
    for (const until = Date.now() + 60_000; !await this.#isOpened();) {
      if (Date.now() > until) throw new Error("The channel has not opened its mailbox");
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
    const id = `<${crypto.randomUUID()}@person.test>`;
    const sender = from === "own" ? `${this.#own}@test` : senderId;
    const raw = plainMail({
      id,
      subject: "",
      text,
      from: sender,
      more: from === "bot" ? ["Auto-Submitted: auto-generated"] : [],
    });
    this.#last = { raw, from: sender };
    await deliver(this.#servers, raw, { from: sender, to: `${this.#own}@test` });
    return id;
  }

  async redeliver(): Promise<void> {
    const { raw, from } = this.#last!;
    await deliver(this.#servers, raw, { from, to: `${this.#own}@test` });
  }

  sent(): readonly PlatformSent[] {
    return this.#sent;
  }

  acknowledged(): readonly string[] {
    return this.#acknowledged;
  }

  async goDown(): Promise<void> {
    await Promise.all([this.#relays.imap.down(), this.#relays.smtp.down()]);
  }

  refuse(kind: "permanent" | "temporary"): void {
    Deno.writeTextFileSync(join(this.#servers.dir, `refuse-${kind}`), "");
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#looking;
    await this.goDown();
  }

  async #isOpened(): Promise<boolean> {
    const log = await Deno.readTextFile(join(this.#servers.dir, "log", "dovecot"));
    return log.split("\n").some((line) =>
      line.includes(`imap(${this.#own}@test)`) && /Command finished: select /i.test(line)
    );
  }

  async #look(): Promise<void> {
    while (!this.#closed) {
      for (const user of PEOPLE) await this.#lookAtSent(user);
      await this.#lookAtAcknowledged();
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  }

  async #lookAtSent(user: string): Promise<void> {
    for (const path of this.#files(user, "new")) {
      if (this.#ids.has(path)) continue;
      const email = await PostalMime.parse(await Deno.readFile(path));
      this.#ids.set(path, email.messageId!);
      this.#sent.push({
        chatId: `${user}@test#${threadOfOwn(email.messageId!)}`,
        text: email.text!.trim(),
        files: email.attachments.map(({ filename }) => filename!),
      });
    }
  }

  /** Flags stand in the names of files. */
  async #lookAtAcknowledged(): Promise<void> {
    for (const path of this.#files(this.#own, "cur")) {
      if (this.#ids.has(path) || !/:2,[A-Z]*S/.test(path)) continue;
      try {
        const { messageId } = await PostalMime.parse(await Deno.readFile(path));
        this.#ids.set(path, messageId!);
        this.#acknowledged.push(messageId!);
      } catch (error) {
        // It was given another name meanwhile.
        if (!(error instanceof Deno.errors.NotFound)) throw error;
      }
    }
  }

  #files(user: string, folder: string): string[] {
    const dir = join(this.#servers.dir, "mail", user, "Maildir", folder);
    try {
      return [...Deno.readDirSync(dir)].map(({ name }) => join(dir, name)).sort();
    } catch {
      return [];
    }
  }
}
