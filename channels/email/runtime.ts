/**
 * The email channel: a mailbox that is read over IMAP, and answers by SMTP. A thread with a person is a
 * chat.
 *
 * @module
 */

import { join } from "@std/path";
import { BaseChannel } from "../../lib/channel/base_channel.ts";
import type { ChannelHost } from "../../lib/channel/channel_host.ts";
import { PermanentDeliveryError } from "../../lib/channel/delivery_error.ts";
import type { OutboundMessage } from "../../lib/contract/outbound_message.ts";
import { inPieces, others } from "../../lib/channel/platform/mod.ts";
import { ServiceError } from "../../lib/base/errors.ts";
import { type ImapSession, openSession } from "./imap/imap_session.ts";
import { CursorStore } from "./imap/mailbox_cursor.ts";
import { reasonOf, type TakenMail, watchMailbox } from "./imap/watch_mailbox.ts";
import { type IncomingMail, incomingMail } from "./mail/incoming_mail.ts";
import { deleteOldFiles, saveFiles } from "./mail/mail_files.ts";
import { subjectPieces } from "./mail/mail_pieces.ts";
import { readChatId } from "./mail/mail_thread.ts";
import { ownMessageId, threadKey } from "./mail/message_ids.ts";
import { type MailContent, readMail } from "./mail/read_mail.ts";
import { type EmailConfig, type EmailSettings, emailSettings } from "./account/settings.ts";
import { AnswerLimit } from "./smtp/answer_limit.ts";
import { composeMail } from "./smtp/compose_mail.ts";
import { createMailTransport, type MailTransport } from "./smtp/mail_transport.ts";
import { outgoingFiles } from "./smtp/outgoing_files.ts";
import { tlsOptions } from "./account/tls_options.ts";

/** Events that are worth a mail; what only says how far something is has no place in one. */
const MAILED: readonly (string | undefined)[] = [undefined, "approval"];

export class EmailChannel extends BaseChannel<EmailConfig> {
  readonly #settings: EmailSettings;
  readonly #transport: MailTransport;
  readonly #limit: AnswerLimit;
  readonly #stopping = new AbortController();
  #run: Promise<void> | undefined;
  #isRunning = false;

  /** Throws `config_invalid`, naming the field that is wrong. */
  constructor(config: EmailConfig, host: ChannelHost) {
    super({ ...config, allowFrom: smallLetters(config.allowFrom) }, host);
    this.#settings = emailSettings(config);
    const { smtp, tlsCaFile, maxAnswersPerHour: max } = this.#settings;
    this.#transport = createMailTransport(smtp, { tls: () => tlsOptions(tlsCaFile) });
    this.#limit = new AnswerLimit({ stateDir: host.stateDir, max, clock: host.clock });
  }

  override get isRunning(): boolean {
    return this.#isRunning;
  }

  override start(): Promise<void> {
    if (this.#run !== undefined) {
      return Promise.reject(new Error("Cannot start the email channel a second time"));
    }
    return this.#run = this.#read();
  }

  override async stop(): Promise<void> {
    this.#isRunning = false;
    this.#stopping.abort(new Error("The channel was stopped"));
    // What goes wrong is told by start.
    await this.#run?.catch(() => {});
  }

  async #read(): Promise<void> {
    const { host } = this;
    const { imap, mailbox, tlsCaFile, maxAgeMs, pollMs, maxMessageBytes, address } = this.#settings;
    const { signal } = this.#stopping;
    const { clock, log } = host;
    signal.throwIfAborted();
    this.#isRunning = true;
    try {
      await Deno.mkdir(host.stateDir, { recursive: true, mode: 0o700 });
      await deleteOldFiles(host.stateDir, clock.now());
      const tls = await tlsOptions(tlsCaFile);
      await watchMailbox({
        mailbox: `${imap.username}@${imap.host}:${imap.port}/${mailbox}`,
        open: (signal) =>
          openSession({ server: imap, mailbox, tls, maxBytes: maxMessageBytes, clock }, signal),
        cursor: new CursorStore(host.stateDir),
        take: (mail, session) => this.#take(mail, session),
        say: (state) => host.setDetail(state === "connected" ? `connected as ${address}` : state),
        maxAgeMs,
        pollMs,
        clock,
        log,
      }, signal);
    } finally {
      this.#isRunning = false;
    }
  }

  /** A mail that is new; resolves when it is on the disk of the service, refused, or left alone. */
  async #take(mail: TakenMail, session: ImapSession): Promise<void> {
    const { log } = this.host;
    const { address, requireAuthentication, authservId, maxMessageBytes } = this.#settings;
    const { uid, uidValidity, header, sizeBytes } = mail;
    const fallbackId = `uid:${uidValidity}:${uid}`;
    const incoming = await incomingMail(header, fallbackId, {
      own: [address],
      isAllowed: (sender) => this.isAllowed(sender),
      authservId: requireAuthentication ? authservId : undefined,
    });
    if ("ignored" in incoming) {
      const from = incoming.address ?? "unknown";
      return void log.info("A mail was left alone", { uid, from, reason: incoming.ignored });
    }
    if (sizeBytes >= maxMessageBytes) {
      await this.#refuseLarge(incoming, sizeBytes);
      return await session.markSeen(uid);
    }
    const source = await session.source(uid, maxMessageBytes);
    if (source === undefined) return;
    let content: MailContent;
    try {
      content = await readMail(source);
    } catch (error) {
      return void log.warning("A mail cannot be read", { uid, reason: reasonOf(error) });
    }
    if (await this.#hand(incoming, content)) await session.markSeen(uid);
  }

  /** Whether the service has it. Rejects where it may have it another time. */
  async #hand(incoming: IncomingMail, content: MailContent): Promise<boolean> {
    const { host } = this;
    const { address, name, chatId, thread, messageId } = incoming;
    const key = await threadKey(`${chatId}\0${messageId}`);
    const { paths, leftOut } = await saveFiles(content.files, { stateDir: host.stateDir, key });
    const words = inPieces([
      ...thread.isNew ? subjectPieces(content.subject) : [],
      ...content.said,
      ...leftOut > 0 ? others("file", `(${leftOut} more files of the mail were left out.)`) : [],
    ]);
    if (words.content === "" && paths.length === 0) {
      host.log.info("A mail was left alone", { from: address, reason: "nothing is in it" });
      return false;
    }
    try {
      const published = await this.handleMessage({
        senderId: address,
        chatId,
        ...words,
        ...paths.length > 0 && { media: paths },
        metadata: { messageId, references: thread.references, subject: content.subject },
        messageId,
        ...name !== undefined && { senderName: name },
      });
      return published.kind !== "denied";
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== "invalid_request") throw error;
      // It would be the same each time.
      host.log.error("A mail was not taken", { from: address, reason: error.message });
      return false;
    } finally {
      // The service has what it needs; what it has not is given again.
      await Deno.remove(join(host.stateDir, "media", key), { recursive: true }).catch(() => {});
    }
  }

  async #refuseLarge(incoming: IncomingMail, sizeBytes: number): Promise<void> {
    const { maxMessageBytes } = this.#settings;
    const size = (bytes: number) => `${Math.ceil(bytes / 1024 / 1024)} MB`;
    const { chatId, messageId, thread, address } = incoming;
    this.host.log.info("A mail is too large", { from: address, sizeBytes });
    try {
      await this.send({
        id: `too-large:${messageId}`,
        channel: this.name,
        chatId,
        content: `Your mail was not read: it has ${size(sizeBytes)}, and ` +
          `${size(maxMessageBytes)} or more are too many. Please send it in smaller parts.`,
        media: [],
        metadata: { messageId, references: thread.references },
      });
    } catch (error) {
      // Its sender is not told; nothing that was accepted is lost by that.
      this.host.log.warning("The refusal of a mail was not sent", { reason: reasonOf(error) });
    }
  }

  /** Sends a mail; into the thread of the chat, or as the first of one. */
  override async send(message: OutboundMessage): Promise<void> {
    const { id, chatId, metadata, event } = message;
    if (!MAILED.includes(event?.type)) return;
    if (message.content.trim() === "" && message.media.length === 0) return;
    if (!this.#isRunning) throw new Error("The email channel does not run");
    const chat = readChatId(chatId);
    if (chat === undefined) {
      throw new PermanentDeliveryError(
        `Cannot send a mail to ${JSON.stringify(chatId.slice(0, 80))}: expected an address, or ` +
          "<address>#<thread>",
      );
    }
    const { address, fromName, subject, maxAnswersPerHour } = this.#settings;
    if (!await this.#limit.take(chat.address, id)) {
      this.host.log.warning("A mail was not sent: too many went to its address in an hour", {
        to: chat.address,
        maxAnswersPerHour,
      });
      throw new PermanentDeliveryError(
        `More than ${maxAnswersPerHour} mails to ${chat.address} in an hour are not sent`,
      );
    }
    const { files, leftOut } = await outgoingFiles(message.media);
    await this.#transport.send(composeMail({
      from: { name: fromName, address },
      to: chat.address,
      subject,
      messageId: await ownMessageId({
        runtimeName: this.name,
        id,
        thread: chat.thread ?? await threadKey(`${this.name}\0${id}`),
        address,
      }),
      content: [message.content, ...leftOut].join("\n\n").trim(),
      metadata,
      files,
      now: this.host.clock.now(),
    }));
  }
}

/** Addresses are compared in small letters. What is no list stays what it is, and denies. */
function smallLetters<T>(allowFrom: T): T {
  if (!Array.isArray(allowFrom)) return allowFrom;
  return allowFrom.map((each) => typeof each === "string" ? each.toLowerCase() : each) as T;
}
