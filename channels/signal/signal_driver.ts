/**
 * An account of Signal, by a connection to the signal-cli that holds it: the wire, for `PlatformChannel`.
 * A message of ours is named by the time at which it was sent, which is how Signal names it.
 *
 * @module
 */

import {
  LoginRefusedError,
  NotConnectedError,
  PermanentDeliveryError,
  UncertainDeliveryError,
} from "../../lib/channel/delivery_error.ts";
import {
  type Edit,
  failedCall,
  type FileRules,
  inPieces,
  type IntakeEntry,
  mediaTypeOf,
  others,
  type OutgoingFile,
  type PlatformDriver,
  type PlatformFile,
  type PlatformMessage,
  type PlatformSession,
  type Posting,
  sleep,
  splitQuotes,
  UnreadableFileError,
} from "../../lib/channel/platform/mod.ts";
import {
  type HeardMessage,
  type OwnAccount,
  readEnvelope,
  type ReadReaction,
  recipientOf,
  type SignalFile,
} from "./inbound/read_envelope.ts";
import { CODES, isRefusedAs } from "./rpc/signal_faults.ts";
import { SignalRpc } from "./rpc/signal_rpc.ts";
import type { SignalConfig } from "./settings.ts";
import { signalParts, toSignal } from "./text/to_signal.ts";

/** A message of ours. */
export interface SignalRef {
  chatId: string;
  timestamp: number;
}

/** Edits of a message so far: the next names the newest, or programs leave it out. */
interface Edited {
  newest: number;
  count: number;
}

/** Programs show for 15 seconds that somebody types. */
const TYPING_MS = 10_000;

/** Between two edits, milliseconds; each is kept in the history of its message, on every device. */
const EDIT_MS = 2_000;

/** Edits of a message that Signal's own programs make at most. The last is for its last text. */
const MAX_EDITS = 10;

/** Bytes of a file: it goes through a line of JSON. */
const MAX_FILE_BYTES = 50 * 1024 * 1024;

/** A daemon that lost its account says nothing by itself, milliseconds. */
const LOOK_MS = 15_000;
const LOOK_TIMEOUT_MS = 20_000;

/** How long signal-cli has for the end of a subscription, milliseconds. */
const END_MS = 2_000;

/** Characters of a quoted question. */
const MAX_QUOTE_CHARS = 200;

export class SignalDriver implements PlatformDriver<HeardMessage, SignalRef> {
  readonly files: FileRules<OutgoingFile> = {
    maxBytes: MAX_FILE_BYTES,
    group: (files) => [[...files]],
    joins: () => true,
  };
  readonly typing = {
    everyMs: TYPING_MS,
    show: (chatId: string) => this.#ask("sendTyping", recipient(chatId)),
    hide: (chatId: string) => this.#ask("sendTyping", { ...recipient(chatId), stop: true }),
  };
  readonly #config: SignalConfig;
  readonly #session: PlatformSession<HeardMessage>;
  #rpc: SignalRpc | undefined;
  #me: OwnAccount;
  #connected: Promise<unknown> | undefined;
  #subscription: unknown;
  #left: Promise<unknown> | undefined;
  /** What came and is not on the disk yet, in order. */
  readonly #unstored: IntakeEntry<HeardMessage>[] = [];
  #storing: Promise<void> = Promise.resolve();

  constructor(config: SignalConfig, session: PlatformSession<HeardMessage>) {
    this.#config = config;
    this.#session = session;
    this.#me = { number: config.account, uuid: undefined };
  }

  connect(signal: AbortSignal, ready: (who: string) => void): Promise<string> {
    const connected = this.#connect(signal, ready);
    this.#connected = connected.catch(() => {});
    return connected;
  }

  async #connect(signal: AbortSignal, ready: (who: string) => void): Promise<string> {
    const { host, port, account } = this.#config;
    const { clock } = this.#session.host;
    await this.#store();
    const onReceive = (params: unknown) => this.#receive(params);
    const rpc = this.#rpc = await SignalRpc.open({ host, port, clock, onReceive }, signal);
    this.#left = undefined;
    const leave = () => void this.#leave();
    signal.addEventListener("abort", leave, { once: true });
    try {
      await this.#learnOwnId(rpc);
      // Whatever its --receive-mode is.
      this.#subscription = await rpc.call("subscribeReceive", { account });
      ready(`${account} by signal-cli at ${host}:${port}`);
      return await Promise.race([rpc.closed, this.#look(rpc)]);
    } finally {
      this.#rpc = undefined;
      signal.removeEventListener("abort", leave);
      rpc.close();
      await rpc.closed;
    }
  }

  /** What was told before it is answered is read by then, and Signal's server keeps the rest. */
  #leave(): Promise<unknown> {
    const asked = { subscription: this.#subscription };
    return this.#left ??= this.#ask("unsubscribeReceive", asked, END_MS).catch(() => {});
  }

  async close(): Promise<void> {
    await this.#left;
    this.#rpc?.close();
    await this.#connected;
    await this.#storing.catch(() => {});
  }

  /** Mentions and replies may name us by our number as well, so that without it all goes on. */
  async #learnOwnId(rpc: SignalRpc): Promise<void> {
    const { account } = this.#config;
    const { memory } = this.#session;
    let uuid = memory.get<string>("account", account);
    if (uuid === undefined) {
      const found = await rpc.call("getUserStatus", { account, recipient: [account] })
        .catch((error) => {
          const isOther = failedCall(error) === undefined;
          if (isOther || isRefusedAs(error, CODES.invalidParams)) throw error;
          return [];
        });
      uuid = (found as { uuid?: string }[])[0]?.uuid;
      if (uuid !== undefined) memory.set("account", account, uuid);
    }
    this.#me = { number: account, uuid };
  }

  /** Resolves when it does not answer any more; rejects when it has the account no more. */
  async #look(rpc: SignalRpc): Promise<string> {
    const { account } = this.#config;
    for (;;) {
      await sleep(LOOK_MS, this.#session.host.clock, rpc.signal);
      if (rpc.signal.aborted) return await rpc.closed;
      const accounts = await accountsOf(rpc);
      if (accounts?.includes(account) === false) {
        throw new LoginRefusedError(
          `signal-cli has no account ${account} any more. Link it again: service channels login signal`,
        );
      }
    }
  }

  #receive(params: unknown): void {
    const session = this.#session;
    const read = readEnvelope(params, this.#me);
    if (read?.kind === "reaction") {
      const isOn = (ref: unknown) => this.#isNamed(ref as SignalRef, read);
      return void session.react({ ...read, isOn });
    }
    if (read?.kind === "untrusted") {
      return session.host.log.warning(
        "A message can't be read: its sender's safety number has changed, and signal-cli has to trust it",
        { sender: read.senderId },
      );
    }
    if (read === undefined) return;
    const { message, isGroup, isAddressed } = read;
    if (isGroup && this.#config.respond === "mention" && !isAddressed) return;
    const { chatId, senderId, senderName } = message;
    if (!session.isAllowed({ senderId, senderName, ...!isGroup && { directChatId: chatId } })) {
      return;
    }
    this.#unstored.push({ lane: chatId, id: idOf(message), data: message });
    // Not waited for: a file of a message that is taken comes over the same connection.
    this.#store().catch((error) => this.#leave().then(() => this.#rpc?.close(error.message)));
  }

  /** signal-cli gives nothing twice: what could not be stored waits for the next connection, and comes first. */
  #store(): Promise<void> {
    return this.#storing = this.#storing.catch(() => {}).then(async () => {
      while (this.#unstored.length > 0) {
        const entries = this.#unstored.slice();
        await this.#session.receive(entries);
        this.#unstored.splice(0, entries.length);
      }
    });
  }

  /** The message that was edited first: each edit names the one before. */
  #firstOf(heard: HeardMessage): string {
    const { memory } = this.#session;
    const target = idOf({ ...heard, timestamp: heard.replaces! });
    const first = memory.get<string>("edit", target) ?? target;
    memory.set("edit", idOf(heard), first);
    return first;
  }

  read(heard: HeardMessage): PlatformMessage<SignalFile> {
    const { chatId, senderId, senderName, timestamp, text, quote, files } = heard;
    const replaces = heard.replaces === undefined ? undefined : this.#firstOf(heard);
    const provenance = text === "" && files.length === 1 ? "own" : "file";
    return {
      ...{ chatId, messageId: idOf(heard), senderId, sentAt: timestamp },
      ...replaces !== undefined && { replaces },
      ...senderName !== undefined && { senderName },
      metadata: {
        timestamp,
        author: senderId,
        text: text.slice(0, MAX_QUOTE_CHARS).toWellFormed(),
      },
      ...inPieces([
        ...quote === undefined ? [] : others("quoted", quote.text, quote.author),
        ...splitQuotes(text),
      ]),
      files: files.map((file) => ({
        name: file.name,
        ...file.bytes !== undefined && { bytes: file.bytes },
        isAudio: file.contentType.startsWith("audio/"),
        provenance,
        ref: file,
      })),
    };
  }

  async fetchFile({ ref }: PlatformFile, maxBytes: number) {
    const { id } = ref as SignalFile;
    // It wants one of the two, and looks at none of them.
    const asked = this.#ask("getAttachment", { id, recipient: this.#config.account });
    const { data } = await asked.catch((error) => {
      throw failedCall(error) !== undefined
        ? new UnreadableFileError("signal-cli has it no more")
        : error;
    }) as { data?: unknown };
    if (typeof data !== "string") throw new UnreadableFileError("signal-cli gives no content");
    const bytes = Uint8Array.fromBase64(data);
    return bytes.length > maxBytes ? undefined : bytes;
  }

  async handedOn({ senderId, timestamp }: HeardMessage): Promise<void> {
    if (!this.#config.readReceipts) return;
    const receipt = { recipient: senderId, targetTimestamps: [timestamp], type: "read" };
    await this.#ask("sendReceipt", receipt);
  }

  async acknowledge({ chatId, senderId, timestamp }: HeardMessage): Promise<void> {
    const { ackReaction: emoji } = this.#config;
    if (emoji === "") return;
    const target = { targetAuthor: senderId, targetTimestamp: timestamp };
    await this.#ask("sendReaction", { ...recipient(chatId), emoji, ...target });
  }

  split(markdown: string): string[] {
    return signalParts(markdown);
  }

  editEveryMs(): number {
    return EDIT_MS;
  }

  hasButtons(): boolean {
    return true;
  }

  async post(posting: Posting): Promise<SignalRef> {
    const { chatId, text, kind, metadata, isFirst, files, buttons } = posting;
    const isAsked = buttons?.length === 2;
    const hint = () => this.#session.words("react", { yes: "👍", no: "👎" });
    const said = isAsked ? `${text}\n\n${hint()}` : text;
    const attachments = await Promise.all(files.map(dataUrlOf));
    const timestamp = await this.#send(chatId, {
      ...toSignal(said),
      ...attachments.length > 0 && { attachments },
      ...isFirst && kind === "answer" && quoteOf(chatId, metadata),
      ...kind === "note" && { noUrgent: true },
    });
    return { chatId, timestamp };
  }

  async edit(ref: SignalRef, { text, isFinal }: Edit): Promise<void> {
    const { newest: editTimestamp, count } = this.#edited(ref);
    if (!isFinal && count >= MAX_EDITS - 1) return;
    const newest = await this.#send(ref.chatId, { ...toSignal(text), editTimestamp });
    const edited: Edited = { newest, count: count + 1 };
    this.#session.memory.set("edited", String(ref.timestamp), edited);
  }

  async removeNote(ref: SignalRef): Promise<void> {
    const targetTimestamp = this.#edited(ref).newest;
    await this.#ask("remoteDelete", { ...recipient(ref.chatId), targetTimestamp });
  }

  /** By its first time, or that of its newest edit. */
  #isNamed(ref: SignalRef, { chatId, target }: ReadReaction): boolean {
    return ref.chatId === chatId &&
      (ref.timestamp === target || this.#edited(ref).newest === target);
  }

  #edited({ timestamp }: SignalRef): Edited {
    const { memory } = this.#session;
    return memory.get("edited", String(timestamp)) ?? { newest: timestamp, count: 0 };
  }

  /** Resolves with the time at which it was sent. */
  async #send(chatId: string, message: object): Promise<number> {
    const result = await this.#ask("send", { ...recipient(chatId), ...message });
    const { timestamp } = (result ?? {}) as { timestamp?: unknown };
    if (typeof timestamp === "number") return timestamp;
    throw new UncertainDeliveryError("signal-cli does not say when the message was sent");
  }

  #ask(method: string, params: object, timeoutMs?: number): Promise<unknown> {
    const rpc = this.#rpc;
    if (rpc === undefined) return Promise.reject(new NotConnectedError("signal-cli is away"));
    return rpc.call(method, { account: this.#config.account, ...params }, timeoutMs);
  }
}

/** Numbers of the accounts that signal-cli has; undefined where it was started with one, and tells none. */
export async function accountsOf(rpc: SignalRpc): Promise<string[] | undefined> {
  try {
    const found = await rpc.call("listAccounts", {}, LOOK_TIMEOUT_MS);
    return (found as { number: string }[]).map(({ number }) => number);
  } catch (error) {
    if (isRefusedAs(error, CODES.methodNotFound)) return undefined;
    throw error;
  }
}

/** Two people may write at the same time. */
function idOf({ senderId, timestamp }: Pick<HeardMessage, "senderId" | "timestamp">): string {
  return `${timestamp}.${senderId}`;
}

function recipient(chatId: string) {
  const found = recipientOf(chatId);
  if (found !== undefined) return found;
  throw new PermanentDeliveryError(
    `${
      JSON.stringify(chatId.slice(0, 80))
    } is no chat: expected an account id, a phone number such as ` +
      "+4915112345678, or group:…",
  );
}

/** In a group it has to be seen whose question an answer is to. */
function quoteOf(chatId: string, { timestamp, author, text }: Posting["metadata"]): object {
  if (!chatId.startsWith("group:") || timestamp === undefined) return {};
  return { quoteTimestamp: timestamp, quoteAuthor: author, quoteMessage: text };
}

async function dataUrlOf({ path, name }: OutgoingFile): Promise<string> {
  const content = (await Deno.readFile(path)).toBase64();
  return `data:${mediaTypeOf(name)};filename=${encodeURIComponent(name)};base64,${content}`;
}
