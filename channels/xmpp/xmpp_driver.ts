/**
 * An XMPP account: its connections, one after the other, for `PlatformChannel`.
 *
 * @module
 */

import { basename } from "@std/path";
import {
  NotConnectedError,
  PermanentDeliveryError,
  RetryLaterError,
} from "../../lib/channel/delivery_error.ts";
import { cleanXmlText, toPlainText } from "../../lib/channel/markdown/mod.ts";
import {
  type Edit,
  type FileRules,
  inPieces,
  others,
  type OutgoingFile,
  type PlatformDriver,
  type PlatformFile,
  type PlatformMessage,
  type PlatformSession,
  type Posting,
  splitQuotes,
} from "../../lib/channel/platform/mod.ts";
import { parseJid } from "./client/jid.ts";
import { oneLine } from "./client/one_line.ts";
import { deliveryErrorOf, StanzaError } from "./client/stanza_error.ts";
import { xml } from "./client/xmpp_library.ts";
import { Connection } from "./connection.ts";
import { fetchFile, fileAt } from "./files/download.ts";
import type { FileHost } from "./files/http_client.ts";
import { uploadFile } from "./files/upload.ts";
import {
  type Composed,
  composeMessage,
  composeReceipt,
  composeState,
  metadataOf,
  readMetadata,
} from "./messages/compose_message.ts";
import type { HeardMessage, XmppMetadata } from "./messages/heard_message.ts";
import type { XmppSettings } from "./settings.ts";
import { bodyOf, messageParts } from "./text/message_parts.ts";
import { type Words, wordsOf } from "./words.ts";

/** What a driver is made of. */
export interface XmppDriverDeps {
  settings: XmppSettings;
  caCerts: readonly string[];
  session: PlatformSession<HeardMessage>;
  /** Whether `allowFrom` lists somebody. */
  isListed: (senderId: string) => boolean;
}

/** A message that was posted, to be given another text; of a note, its chat alone. */
export interface PostedMessage {
  chatId: string;
  id: string;
  metadata: XmppMetadata;
}

/** A file that was uploaded. */
export interface UploadedFile {
  name: string;
  url: string;
}

/** Each new text of an answer is a message of its own, in archives too. */
const EDIT_EVERY_MS = 1_000;

/** Least time between two texts of a status, milliseconds. */
const STATUS_EVERY_MS = 3_000;
const MAX_STATUS_CHARS = 120;

/** Programs take the sign away by themselves after some time, if at all. */
const TYPING_EVERY_MS = 30_000;

/** How long is waited until a room says our message again, once the server has it, milliseconds. */
const ECHO_MS = 5_000;

/** When it is looked again whether we are in a room, milliseconds. */
const REJOIN_MS = 5_000;

export class XmppDriver implements PlatformDriver<HeardMessage, PostedMessage, UploadedFile> {
  /** They are presences, which go with the connection. */
  readonly keepsNotes = false;
  readonly files: FileRules<UploadedFile> = {
    maxBytes: async () => (await this.#link().upload())?.maxBytes ?? Infinity,
    takesEmpty: true,
    upload: (file) => this.#uploadFile(file),
  };
  readonly typing = {
    everyMs: TYPING_EVERY_MS,
    show: (chatId: string) => this.#showState(chatId, "composing"),
    hide: (chatId: string) => this.#showState(chatId, "active"),
  };
  readonly #deps: XmppDriverDeps;
  readonly #words: Words;
  readonly #fileHost: FileHost | undefined;
  #connection: Connection | undefined;
  #problem = "it is starting";

  constructor(deps: XmppDriverDeps) {
    this.#deps = deps;
    const { settings: { language, uploadUrl: url }, caCerts } = deps;
    this.#words = wordsOf(language);
    this.#fileHost = url && { url, caCerts };
  }

  async connect(signal: AbortSignal, ready: (who: string) => void): Promise<string> {
    const { settings, caCerts, session: platform, isListed } = this.#deps;
    const onChange = () => {
      if (this.#connection !== undefined) ready(this.#connection.describe());
    };
    try {
      const connection = await Connection.open(
        { settings, caCerts, platform, isListed, onChange },
        signal,
      );
      this.#connection = connection;
      onChange();
      try {
        throw await connection.session.closed;
      } finally {
        this.#connection = undefined;
        await connection.close();
      }
    } catch (error) {
      this.#problem = error instanceof Error ? error.message : String(error);
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.#connection?.close();
  }

  /** Undefined for a program's, and for what cannot be read, of which whoever wrote it is told. */
  async read(heard: HeardMessage): Promise<PlatformMessage<string> | undefined> {
    const { isListed, session: { host: { log } } } = this.#deps;
    const { chatId, senderId, senderName, messageId, replaces, sentAt, content, urls, from } =
      heard;
    if (!isListed(senderId)) return undefined;
    if (await this.#connection?.bots.has(from)) {
      log.info("A message was left alone", { from, reason: "it is a bot's" });
      return undefined;
    }
    if (heard.isEncrypted) return void await this.#tellEncrypted(heard);
    const files = urls.map((url) => fileAt(url, this.#fileHost));
    const elsewhere = urls.filter((_, at) => files[at] === undefined)
      .flatMap((url) => others("file", `[${this.#words("fileElsewhere", { url })}]`));
    // No platform says what was spoken into a program: a recording that is all of the message counts so.
    const provenance = content === "" && urls.length === 1 ? "own" : "file";
    return {
      ...{ chatId, messageId, replaces, senderId, senderName, sentAt },
      metadata: metadataOf(heard),
      ...inPieces([...splitQuotes(content), ...elsewhere]),
      files: files.flatMap((file) => file === undefined ? [] : { ...file, provenance }),
    } as PlatformMessage<string>;
  }

  /** Once for a chat. */
  async #tellEncrypted({ chatId, thread, messageId }: HeardMessage): Promise<void> {
    const { memory } = this.#deps.session;
    if (memory.get("encrypted", chatId) !== undefined) return;
    const metadata = thread === undefined ? {} : { thread };
    await this.#send({ chatId, id: `encrypted-${messageId}`, metadata }, this.#words("encrypted"));
    memory.set("encrypted", chatId, true);
  }

  fetchFile(file: PlatformFile, maxBytes: number, signal: AbortSignal) {
    return fetchFile(file, this.#fileHost, maxBytes, signal);
  }

  /** It is nobody's business but of those whom we talk to that we are there. */
  handedOn(heard: HeardMessage): Promise<void> {
    const receipt = composeReceipt(heard);
    if (receipt !== undefined) this.#connection?.session.post(receipt);
    return Promise.resolve();
  }

  split(markdown: string): string[] {
    return messageParts(markdown);
  }

  /** In one line. */
  noteOf(markdown: string): string {
    const line = cleanXmlText(toPlainText(markdown)).replace(/\s+/g, " ").trim();
    const isLong = line.length > MAX_STATUS_CHARS;
    return (isLong ? `${line.slice(0, MAX_STATUS_CHARS - 1)}…` : line).toWellFormed();
  }

  editEveryMs(_: string, kind: "answer" | "note"): number {
    return kind === "note" ? STATUS_EVERY_MS : EDIT_EVERY_MS;
  }

  async post(posting: Posting<UploadedFile>): Promise<PostedMessage> {
    const { chatId, text, kind, key: id, isFirst, files: [file] } = posting;
    if (kind === "note") return this.#showStatus(chatId, text);
    const { thread, ...about } = readMetadata(posting.metadata);
    // The first says whose question it answers.
    const isAnswer = isFirst && kind === "answer";
    const metadata = { ...thread !== undefined && { thread }, ...isAnswer && about };
    const posted = { chatId, id, metadata };
    await this.#send(posted, text, { url: file?.url });
    return posted;
  }

  /** By another message that takes its place (XEP-0308). */
  async edit(posted: PostedMessage, { text, kind }: Edit): Promise<void> {
    if (kind === "note") return void this.#showStatus(posted.chatId, text);
    const id = crypto.randomUUID();
    await this.#send({ ...posted, id }, text, { replaces: posted.id });
  }

  removeNote({ chatId }: PostedMessage): Promise<void> {
    return Promise.resolve(void this.#showStatus(chatId));
  }

  /** `url`: that of a file, which is all of the message then. */
  async #send(
    { chatId, id, metadata }: PostedMessage,
    markdown: string,
    { replaces, url }: Pick<Composed, "replaces" | "url"> = {},
  ): Promise<void> {
    requireAddress(chatId);
    const connection = this.#link();
    const room = connection.room(chatId);
    if (room?.isIn === false) {
      const message = `Not in ${chatId}: ${room.problem}`;
      // It goes in again by itself, and no attempt is used up until then.
      throw room.isFinal
        ? new PermanentDeliveryError(message)
        : new RetryLaterError(message, REJOIN_MS);
    }
    const isRoom = room !== undefined;
    const body = url ?? addressed(bodyOf(markdown), isRoom ? metadata.nick : undefined);
    try {
      await connection.session.deliver(
        composeMessage({ to: chatId, isRoom, id, body, metadata, replaces, url }),
        room && { from: room.ownJid, ms: ECHO_MS },
      );
    } catch (error) {
      if (!(error instanceof StanzaError)) throw error;
      if (error.condition === "not-acceptable") room?.lost();
      throw deliveryErrorOf(error, chatId);
    }
  }

  async #uploadFile({ path }: OutgoingFile): Promise<UploadedFile> {
    const connection = this.#link();
    const [service, host] = [await connection.upload(), this.#fileHost];
    if (service === undefined || host === undefined) {
      throw new PermanentDeliveryError(this.#words("noUpload"));
    }
    const { session } = connection;
    const { signal } = this.#deps.session;
    return {
      name: basename(path),
      url: await uploadFile(path, { session, service, host, signal }),
    };
  }

  #link(): Connection {
    if (this.#connection !== undefined) return this.#connection;
    throw new NotConnectedError(this.#problem);
  }

  /** The form that XMPP has for it: it goes to the chat alone, notifies nobody and is kept nowhere. */
  #showStatus(chatId: string, text?: string): PostedMessage {
    const connection = this.#link();
    const room = connection.room(chatId);
    const said = text === undefined ? [] : [xml("show", {}, "dnd"), xml("status", {}, text)];
    if (room?.isIn !== false) {
      connection.session.post(xml("presence", { to: room?.ownJid ?? chatId }, ...said));
    }
    return { chatId, id: "", metadata: {} };
  }

  #showState(chatId: string, state: "composing" | "active"): Promise<void> {
    const connection = this.#connection;
    const room = connection?.room(chatId);
    if (room?.isIn !== false) {
      connection?.session.post(composeState(chatId, room !== undefined, state));
    }
    return Promise.resolve();
  }
}

/** Throws PermanentDeliveryError for what nobody can be reached by. */
function requireAddress(chatId: string): void {
  const jid = parseJid(chatId);
  if (jid !== undefined && jid.local !== "" && jid.resource === "") return;
  throw new PermanentDeliveryError(
    `${JSON.stringify(chatId.slice(0, 80))} is no address such as ann@example.org`,
  );
}

/** In a room it has to be seen whose question it answers, and whoever asked is told that it is here. */
function addressed(body: string, nick: string | undefined): string {
  if (nick === undefined) return body;
  const name = oneLine(nick, 100);
  // A quote and a block of code begin a line.
  return /^(?:>|```)/.test(body) ? `${name}:\n${body}` : `${name}: ${body}`;
}
