/**
 * A device of a WhatsApp account, for `PlatformChannel`. A message has an id that follows from the key of what
 * is posted, by which phones know a second copy.
 *
 * @module
 */

import {
  type BinaryNode,
  isJidBot,
  isJidGroup,
  isJidMetaAI,
  proto,
  sha256,
  type WAMessage,
  type WASocket,
} from "baileys";
import { Buffer } from "node:buffer";
import {
  LoginRefusedError,
  NotConnectedError,
  PermanentDeliveryError,
  UncertainDeliveryError,
} from "../../lib/channel/delivery_error.ts";
import { cleanXmlText, splitMarkdown, toStyling } from "../../lib/channel/markdown/mod.ts";
import {
  abortable,
  type Edit,
  type FileRules,
  inPieces,
  type PlatformDriver,
  type PlatformFile,
  type PlatformMessage,
  type PlatformSession,
  type Posting,
  withDeadline,
} from "../../lib/channel/platform/mod.ts";
import { endOf, refusedMessage, toDeliveryError } from "./delivery_fault.ts";
import {
  type Account,
  contentOf,
  type HeardFile,
  type HeardItem,
  type HeardMessage,
  heardMessage,
  isAddressed,
  jidOf,
  personOf,
} from "./heard_message.ts";
import { LoginStore } from "./login_store.ts";
import { download, type Link, MAX_FILE_BYTES, upload, type UploadedFile } from "./media.ts";
import type { WhatsAppConfig } from "./settings.ts";
import { openWaSocket } from "./wa_socket.ts";
import { type Words, wordsOf } from "./words.ts";

/** What a driver is made of. */
export interface WhatsAppDriverDeps {
  settings: WhatsAppConfig;
  session: PlatformSession<HeardItem>;
}

/** A message of ours. */
export interface PostedMessage {
  chatId: string;
  id: string;
  /** Milliseconds since 1970. */
  at: number;
}

/** WhatsApp takes 65,536 characters, and hides most of so long a text. */
const MAX_TEXT_CHARS = 4_000;

/** Files say less. */
const MAX_CAPTION_CHARS = 1_000;

/** After that phones leave an edit alone, milliseconds. */
const EDITABLE_MS = 14 * 60_000;

/** Each edit is a message to each device of the chat, milliseconds. */
const EDIT_EVERY_MS = 3_000;

/** How long the server has to confirm a message, milliseconds. */
const CONFIRM_MS = 30_000;

/** Phones take the sign away by themselves after 25 s. */
const TYPING_EVERY_MS = 10_000;

/** What to do where no login is left. */
const LINK = "Link it: service channels login whatsapp";

export class WhatsAppDriver implements PlatformDriver<HeardItem, PostedMessage, UploadedFile> {
  readonly files: FileRules<UploadedFile> = {
    maxBytes: MAX_FILE_BYTES,
    takesEmpty: true,
    upload: (file) => this.#ask((link) => upload(file, link)),
    joins: ([text = "", ...more], [group]) =>
      more.length === 0 && text.length <= MAX_CAPTION_CHARS && group?.[0]?.takesText === true,
  };
  readonly typing = {
    everyMs: TYPING_EVERY_MS,
    show: (chatId: string) => this.#showTyping(chatId, true),
    hide: (chatId: string) => this.#showTyping(chatId, false),
  };
  readonly #deps: WhatsAppDriverDeps;
  readonly #login: LoginStore;
  readonly #words: Words;
  /** Messages that the server has not confirmed yet, by their ids. */
  readonly #unconfirmed = new Map<string, PromiseWithResolvers<BinaryNode>>();
  #link: Link | undefined;
  #ended: Promise<unknown> | undefined;
  #problem = "it is starting";

  private constructor(deps: WhatsAppDriverDeps, login: LoginStore) {
    this.#deps = deps;
    this.#login = login;
    this.#words = wordsOf(deps.settings.language);
  }

  /** Rejects with a `LoginRefusedError` where nobody has linked it. */
  static async open(deps: WhatsAppDriverDeps): Promise<WhatsAppDriver> {
    const { settings: { login }, session: { host } } = deps;
    if (!await LoginStore.has(host.stateDir, login)) {
      throw new LoginRefusedError(`No account is linked. ${LINK}`);
    }
    const store = await LoginStore.open(host, login);
    if (store.creds.me === undefined) {
      store.close();
      throw new LoginRefusedError(
        `The key of the secrets, with which the login was encrypted, has changed. ${LINK} --force`,
      );
    }
    await LoginStore.remove(host.stateDir, login, { others: true });
    return new WhatsAppDriver(deps, store);
  }

  async connect(signal: AbortSignal, ready: (who: string) => void): Promise<string | undefined> {
    const ending = Promise.withResolvers<unknown>();
    this.#ended = ending.promise;
    const { settings, session } = this.#deps;
    const over = new AbortController();
    const hear = (message: WAMessage) => this.#hear(message, socket);
    const socket: WASocket = openWaSocket({ settings, login: this.#login, hear });
    socket.ev.on("connection.update", ({ connection, lastDisconnect, reachoutTimeLock: lock }) => {
      if (connection === "open") {
        const isPlain = settings.url.startsWith("http:");
        const link = { socket, isPlain, clock: session.host.clock };
        this.#link = { ...link, signal: AbortSignal.any([session.signal, over.signal]) };
        ready(`+${jidUser(this.#account.id)}`);
        // Without a name the server shows nobody that it is typing. The phone knows it.
        if (!this.#login.creds.me?.name) {
          socket.resyncAppState(["critical_block"], true).catch(() => {});
        }
      }
      if (connection === "close") ending.resolve(lastDisconnect?.error);
      if (lock === undefined) return;
      const until = lock.timeEnforcementEnds?.toISOString() ?? "further notice";
      session.warn(
        lock.isActive ? `WhatsApp lets it begin no new chats until ${until}` : undefined,
      );
    });
    socket.ws.on("CB:ack,class:message", (node: BinaryNode) => {
      this.#unconfirmed.get(node.attrs.id ?? "")?.resolve(node);
    });
    const end = () => void socket.end(undefined);
    signal.addEventListener("abort", end, { once: true });
    if (signal.aborted) end();
    try {
      const error = await ending.promise;
      this.#problem = error instanceof Error ? error.message : "the connection ended";
      return endOf(error, LINK);
    } finally {
      signal.removeEventListener("abort", end);
      this.#link = undefined;
      over.abort(new NotConnectedError(this.#problem));
      for (const { reject } of this.#unconfirmed.values()) {
        reject(new UncertainDeliveryError("The connection ended before the message was confirmed"));
      }
    }
  }

  async close(): Promise<void> {
    await this.#ended;
    this.#login.close();
  }

  /** Keeps what is for the agent, before the server is told that it has come. */
  async #hear(message: WAMessage, { signalRepository: { lidMapping } }: WASocket): Promise<void> {
    const { settings: { respond }, session } = this.#deps;
    const { key, pushName } = message;
    const writer = key.participant || key.remoteJid || "";
    if (key.fromMe || isJidMetaAI(writer) || isJidBot(writer)) return;
    const said = contentOf(message);
    const senderId = await personOf(key, (jid) => lidMapping.getPNForLID(jid));
    const account = this.#account;
    const isGroup = isJidGroup(key.remoteJid ?? "") === true;
    const { reactionMessage: reaction } = said.content;
    if (reaction) {
      const chatId = isGroup ? key.remoteJid! : senderId;
      const about = { chatId, senderId, senderName: pushName ?? undefined, id: key.id ?? "" };
      const data = { reaction: { ...about, emoji: reaction.text ?? "", on: reaction.key?.id } };
      return await session.receive([{ lane: `reaction ${chatId}`, id: about.id, data }]);
    }
    const isMeant = said.replaces !== undefined || isAddressed(said, account);
    if (isGroup && respond === "mention" && !isMeant) return;
    const heard = heardMessage(message, said, { senderId, account });
    if (heard === undefined) return;
    const sender = { senderId, senderName: pushName ?? undefined };
    const { chatId } = heard;
    if (!session.isAllowed(isGroup ? sender : { ...sender, directChatId: chatId })) return;
    await session.receive([{ lane: chatId, id: key.id ?? "", data: heard }]);
  }

  async read(item: HeardItem): Promise<PlatformMessage<HeardFile> | undefined> {
    if ("reaction" in item) {
      const { on, chatId, ...reaction } = item.reaction;
      const isOn = (ref: unknown) => {
        const posted = ref as PostedMessage;
        return posted.id === on && posted.chatId === chatId;
      };
      return void await this.#deps.session.react({ ...reaction, isOn });
    }
    return this.#read(item);
  }

  #read(heard: HeardMessage): PlatformMessage<HeardFile> {
    const { key, chatId, senderId, senderName, sentAt, parts, files, expiration, replaces } = heard;
    const said = inPieces(parts);
    return {
      ...{ chatId, messageId: key.id ?? "", senderId, senderName, sentAt, ...said },
      ...replaces !== undefined && { replaces },
      metadata: {
        id: replaces ?? key.id,
        ...key.participant && { participant: key.participant, text: said.content.slice(0, 200) },
        ...expiration !== undefined && { expiration },
      },
      files: files.map((ref) => ({ ...ref, ref })),
    };
  }

  fetchFile(file: PlatformFile, maxBytes: number, signal: AbortSignal) {
    return this.#ask((link) =>
      download(file.ref as HeardFile, maxBytes, {
        ...link,
        signal: AbortSignal.any([signal, link.signal]),
      })
    );
  }

  async handedOn(item: HeardItem): Promise<void> {
    await this.#ask(({ socket }) => socket.readMessages([(item as HeardMessage).key]));
  }

  async acknowledge(item: HeardItem): Promise<void> {
    const { chatId, key } = item as HeardMessage;
    const { ackReaction: text } = this.#deps.settings;
    if (text === "") return;
    const senderTimestampMs = this.#deps.session.host.clock.now();
    const reactionMessage = { key, text, senderTimestampMs };
    await this.#send(chatId, idOf(`ack ${key.id}`), { reactionMessage });
  }

  split(markdown: string): string[] {
    return splitMarkdown(cleanXmlText(markdown), MAX_TEXT_CHARS);
  }

  editEveryMs(): number {
    return EDIT_EVERY_MS;
  }

  hasButtons(): boolean {
    return true;
  }

  async post(posting: Posting<UploadedFile>): Promise<PostedMessage> {
    const { chatId, text, kind, metadata, key, isFirst, files: [file], buttons } = posting;
    const context = contextOf(metadata, isFirst && kind === "answer");
    // The thumb is the nearest at hand.
    const hint = () => this.#deps.session.words("react", { yes: "👍", no: "👎" });
    const said = toText(buttons?.length === 2 ? `${text}\n\n${hint()}` : text);
    const id = idOf(key);
    await this.#send(
      chatId,
      id,
      file?.contentWith(said, context) ??
        { extendedTextMessage: { text: said, contextInfo: context } },
    );
    return { chatId, id, at: this.#deps.session.host.clock.now() };
  }

  async edit({ chatId, id, at }: PostedMessage, { text, kind, isFinal }: Edit): Promise<void> {
    const now = this.#deps.session.host.clock.now();
    const editedMessage = { extendedTextMessage: { text: toText(text) } };
    const newId = idOf(crypto.randomUUID());
    if (now - at > EDITABLE_MS) {
      if (kind !== "answer") throw new PermanentDeliveryError("It is too old to be edited");
      // The answer is said anew once it is whole.
      if (isFinal) await this.#send(chatId, newId, editedMessage);
      return;
    }
    const type = proto.Message.ProtocolMessage.Type.MESSAGE_EDIT;
    const key = { remoteJid: jidOf(chatId), fromMe: true, id };
    const protocolMessage = { key, type, editedMessage, timestampMs: now };
    await this.#send(chatId, newId, { protocolMessage }, { edit: "1" });
  }

  /** It says how much was done: a message that is deleted leaves a mark as well. */
  async removeNote(posted: PostedMessage, texts: number): Promise<void> {
    const text = this.#words("steps", { count: texts });
    await this.edit(posted, { text, kind: "note", isFinal: true });
  }

  /** Resolves when the server has confirmed it. */
  async #send(
    chatId: string,
    messageId: string,
    content: proto.IMessage,
    additionalAttributes: Record<string, string> = {},
  ): Promise<void> {
    const { session: { signal, host: { clock } } } = this.#deps;
    const to = jidOf(chatId);
    if (!/^(?:\d+@s\.whatsapp\.net|\d+@lid|[\d-]+@g\.us)$/.test(to)) {
      throw new PermanentDeliveryError(
        `${JSON.stringify(chatId.slice(0, 80))} is no chat, expected a number such as 491701234567`,
      );
    }
    const confirmed = Promise.withResolvers<BinaryNode>();
    confirmed.promise.catch(() => {});
    this.#unconfirmed.set(messageId, confirmed);
    try {
      await this.#ask(({ socket }) => {
        this.#login.keepSent(messageId, content);
        return socket.relayMessage(to, content, { messageId, additionalAttributes });
      });
      const late = () => new UncertainDeliveryError("WhatsApp has not confirmed the message");
      const { attrs: { error } } = await withDeadline(
        { timeoutMs: CONFIRM_MS, late, signal, clock },
        (signal) => abortable(confirmed.promise, signal),
      );
      if (error !== undefined) throw refusedMessage(Number(error));
    } finally {
      this.#unconfirmed.delete(messageId);
    }
  }

  /** Nobody sees it of somebody who is not there. */
  async #showTyping(chatId: string, isTyping: boolean): Promise<void> {
    const { socket } = this.#link ?? {};
    if (isTyping) await socket?.sendPresenceUpdate("available");
    await socket?.sendPresenceUpdate(isTyping ? "composing" : "paused", jidOf(chatId));
    if (!isTyping) await socket?.sendPresenceUpdate("unavailable");
  }

  get #account(): Account {
    return this.#login.creds.me ?? { id: "" };
  }

  /** Of a connection that has ended the client library waits for answers all the same. */
  async #ask<T>(call: (link: Link) => Promise<T>): Promise<T> {
    const link = this.#link;
    if (link === undefined) throw new NotConnectedError(this.#problem);
    try {
      return await abortable(call(link), link.signal);
    } catch (error) {
      throw toDeliveryError(error);
    }
  }
}

function toText(markdown: string): string {
  return toStyling(markdown) || cleanXmlText(markdown).trim();
}

/** Of the form that WhatsApp's own web client has. */
function idOf(key: string): string {
  return `3EB0${sha256(Buffer.from(key)).toString("hex").slice(0, 18).toUpperCase()}`;
}

function jidUser(jid: string): string {
  return /^\d+/.exec(jid)?.[0] ?? "";
}

/** In a group it has to be seen what is answered. Messages disappear where the others of the chat do. */
function contextOf(metadata: Posting["metadata"], isAnswer: boolean): proto.IContextInfo {
  const { id: stanzaId, participant, text: conversation, expiration } = metadata;
  return {
    ...typeof expiration === "number" && { expiration },
    ...isAnswer && typeof stanzaId === "string" && typeof participant === "string" && {
      ...{ stanzaId, participant, quotedMessage: { conversation: String(conversation ?? "") } },
    },
  };
}
