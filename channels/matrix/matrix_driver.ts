/**
 * The account of the bot while it is logged in: the wire of Matrix, for `PlatformChannel`. Every event has a
 * transaction that follows from the key of what is posted, so that whatever is sent again is there once.
 *
 * @module
 */

import { LoginRefusedError, PermanentDeliveryError } from "../../lib/channel/delivery_error.ts";
import {
  type ApprovalButton,
  type Edit,
  failedCall,
  type FileRules,
  type OutgoingFile,
  type PlatformDriver,
  type PlatformFile,
  type PlatformMessage,
  type PlatformSession,
  type Posting,
  reasonOf,
  splitQuotes,
  UnreadableFileError,
} from "../../lib/channel/platform/mod.ts";
import type { Verification, VerifyAction } from "../../lib/channel/verification.ts";
import { connectionError, matrixFault } from "./api/matrix_faults.ts";
import type { Json } from "./api/matrix_api.ts";
import type { MatrixLogin, MatrixSession } from "./api/matrix_login.ts";
import { placeOf } from "./chat_id.ts";
import { RoomEncryption } from "./crypto/room_encryption.ts";
import { EventReader } from "./inbound/event_reader.ts";
import { ForeignWriters } from "./inbound/foreign_writers.ts";
import type { Heard, HeardFile, MatrixItem, Task } from "./inbound/heard.ts";
import { fileContent } from "./outbound/file_content.ts";
import { RoomWriter } from "./outbound/room_writer.ts";
import type { MatrixConfig } from "./settings.ts";
import { Rooms } from "./sync/rooms.ts";
import { type MatrixEvent, record } from "./sync/sync_answer.ts";
import { SyncLoop } from "./sync/sync_loop.ts";
import { editContent, partsOf, relates, relationOf, textContent } from "./text/message_content.ts";
import { type Words, wordsOf } from "./words.ts";

/** What a driver is made of. */
export interface MatrixDriverDeps {
  config: MatrixConfig;
  session: PlatformSession<MatrixItem>;
  login: MatrixLogin;
  fetch: typeof fetch;
  /** Whether `allowFrom` lists somebody. */
  isListed: (userId: string) => boolean;
  /** As a delivery fails. */
  classify: (error: unknown) => unknown;
}

/** A message of ours. */
export interface MatrixRef {
  chatId: string;
  eventId: string;
}

/** A file that was uploaded. */
export interface UploadedFile {
  name: string;
  content: Json;
}

/** How long a server shows a sign, and how often it is renewed, milliseconds. */
const TYPING_MS = 30_000;
const TYPING_EVERY_MS = 22_000;

/** Between two edits of a note, milliseconds; fewer than of an answer, which is worth more. */
const NOTE_EVERY_MS = 2_000;

/** Files that are sent are read whole. */
const MAX_SENT_BYTES = 100 * 1024 * 1024;

/** Matrix has no buttons: a message that asks has two reactions to click. */
const YES = "✅";
const NO = "❌";

const MAX_CHATS = 1_000;

export class MatrixDriver implements PlatformDriver<MatrixItem, MatrixRef, UploadedFile> {
  readonly knowsKeys = true;
  readonly files: FileRules<UploadedFile> = {
    maxBytes: () => this.#maxUploadBytes(),
    takesEmpty: true,
    upload: (file, chatId) => this.#upload(file, chatId),
  };
  readonly typing = {
    everyMs: TYPING_EVERY_MS,
    show: (chatId: string) => this.#showTyping(chatId, TYPING_MS),
    hide: (chatId: string) => this.#showTyping(chatId, 0),
  };
  readonly #deps: MatrixDriverDeps;
  readonly #account: MatrixSession;
  readonly #words: Words;
  readonly #rooms: Rooms;
  readonly #encryption: RoomEncryption;
  readonly #foreign = new ForeignWriters();
  readonly #writer: RoomWriter;
  readonly #loop: SyncLoop;
  #uploadLimit: Promise<number | undefined> | undefined;
  /** Events that were answered last: further messages of the same answer call nobody again. */
  readonly #answered = new Map<string, unknown>();

  private constructor(
    deps: MatrixDriverDeps,
    account: MatrixSession,
    displayName: string | undefined,
  ) {
    const { config, session, isListed } = deps;
    const { host: { clock, log }, memory } = session;
    const { api, userId: me } = account;
    const rooms = this.#rooms = new Rooms(memory);
    const encryption = this.#encryption = new RoomEncryption({
      ...{ config, account, rooms, foreign: this.#foreign, session, isListed },
    });
    const foreign = this.#foreign;
    this.#deps = deps;
    this.#account = account;
    this.#words = wordsOf(config.language);
    this.#writer = new RoomWriter({ api, rooms, encryption, foreign, memory });
    const { respond, threads } = config;
    const reader = new EventReader({
      ...{ api, me: { userId: me, displayName }, rooms, encryption, session, foreign },
      ...{ respond, threads, isListed },
      onReaction: (roomId, event) => this.#onReaction(roomId, event),
    });
    const now = () => clock.now();
    this.#loop = new SyncLoop({ api, me, rooms, encryption, reader, session, log, now });
  }

  /** Logs in and learns how the rooms are. */
  static async open(deps: MatrixDriverDeps): Promise<MatrixDriver> {
    try {
      const account = await deps.login.open(deps.fetch);
      const displayName = await account.api.displayName(account.userId).catch(() => undefined);
      const driver = new MatrixDriver(deps, account, displayName);
      await driver.#loop.begin();
      return driver;
    } catch (error) {
      throw connectionError(error);
    }
  }

  async connect(signal: AbortSignal, ready: (who: string) => void): Promise<undefined> {
    const { session } = this.#deps;
    try {
      while (!signal.aborted) {
        await this.#round();
        const stranger = this.#foreign.judge();
        if (stranger !== undefined) session.warn(stranger);
        ready(this.#describe());
      }
    } catch (error) {
      throw connectionError(error);
    }
  }

  async close(): Promise<void> {
    await this.#encryption.close();
  }

  verify(action: VerifyAction): Promise<Verification> {
    return this.#encryption.verify(action);
  }

  /** Such as `@helper:example.org, in 3 rooms, 1 of them encrypted and not readable: encryption is off`. */
  #describe(): string {
    const { problem, waiting } = this.#encryption;
    const rooms = `${this.#account.userId}, ${this.#rooms.describe()}`;
    if (problem !== undefined && this.#rooms.hasEncrypted) {
      return `${rooms} and not readable: ${problem}`;
    }
    if (waiting === 0) return rooms;
    return `${rooms}; ${waiting === 1 ? "1 message waits" : `${waiting} messages wait`} for a key`;
  }

  async #round(): Promise<void> {
    const { login, fetch } = this.#deps;
    try {
      await this.#loop.round();
    } catch (error) {
      const fault = matrixFault(error);
      if (!(fault instanceof LoginRefusedError)) throw error;
      await login.renew(this.#account, fetch, fault);
    }
  }

  read(item: MatrixItem): PlatformMessage<HeardFile> | Promise<undefined> {
    if ("task" in item) return this.#do(item);
    const { roomId, chatId, eventId, replaces, senderId, content, isShared, file } = item;
    const { senderName, sentAt } = item;
    return {
      ...{ chatId, messageId: eventId, replaces, senderId, senderName, sentAt, content },
      metadata: { eventId, senderId, roomId, isShared },
      parts: splitQuotes(content, { reach: "paragraph" }),
      files: file === undefined ? [] : [{
        ...{ name: file.name, bytes: file.size, isAudio: file.isVoice, provenance: "own" },
        ref: file,
      }],
    };
  }

  async #do(item: Task): Promise<undefined> {
    try {
      if (item.task === "invite") await this.#answerInvite(item);
      else await this.#tellEncrypted(item.roomId);
    } catch (error) {
      throw this.#deps.classify(error);
    }
  }

  async #answerInvite(
    { roomId: room, inviter, isEncrypted }: Task & { task: "invite" },
  ): Promise<void> {
    const { config: { inviteFrom }, isListed, session: { host: { log } } } = this.#deps;
    const { api } = this.#account;
    const inviters = inviteFrom ?? [];
    const isWelcome = inviters.length === 0
      ? isListed(inviter)
      : inviters.includes("*") || inviters.includes(inviter);
    try {
      // Whoever writes as soon as we are there needs our keys.
      if (isWelcome && isEncrypted) await this.#encryption.open(true);
      if (isWelcome) await api.join(room);
      else await api.leave(room);
    } catch (error) {
      const fault = matrixFault(error);
      if (!(fault instanceof PermanentDeliveryError)) throw error;
      log.warning("An invite could not be answered", { room, reason: fault.message });
      return;
    }
    if (isWelcome) return log.info("An invite was accepted", { room, inviter });
    const reason = "its sender is not in inviteFrom or allowFrom";
    log.info("An invite was declined", { room, inviter, reason });
  }

  /**
   * In clear text: the notice holds nothing of theirs, and without it the room would stay silent for no
   * reason that they can see.
   */
  async #tellEncrypted(roomId: string): Promise<void> {
    const { memory, host: { log } } = this.#deps.session;
    if (memory.get("told_encrypted", roomId) === true) return;
    log.warning("A room is encrypted: nothing that is written there can be read", {
      room: roomId,
      reason: this.#encryption.problem,
    });
    try {
      const event = textContent(this.#words("encryptedRoom"), "m.notice");
      await this.#writer.sendPlain(roomId, event, "encrypted", roomId);
    } catch (error) {
      if (!(matrixFault(error) instanceof PermanentDeliveryError)) throw error;
    }
    memory.set("told_encrypted", roomId, true);
  }

  async fetchFile(
    { ref }: PlatformFile,
    maxBytes: number,
    signal: AbortSignal,
  ): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const { mxc, sealed } = ref as HeardFile;
    try {
      const bytes = await this.#account.api.download(mxc, signal);
      if (bytes.length > maxBytes) return undefined;
      return sealed === undefined ? bytes : this.#encryption.openFile(bytes, sealed);
    } catch (error) {
      const fault = matrixFault(error);
      if (!(fault instanceof PermanentDeliveryError)) throw error;
      const { code, said } = failedCall(fault) ?? {};
      if (code === "M_TOO_LARGE") return undefined;
      throw new UnreadableFileError(said ?? fault.message);
    }
  }

  async handedOn(item: MatrixItem): Promise<void> {
    const { roomId, eventId, threadId } = item as Heard;
    const thread = threadId === eventId ? undefined : threadId;
    await this.#account.api.markRead(roomId, eventId, thread);
  }

  async acknowledge(item: MatrixItem): Promise<void> {
    const { roomId, eventId } = item as Heard;
    const reaction = this.#deps.config.ackReaction.trim();
    if (reaction === "" || reaction === "-") return;
    await this.#writer.react(roomId, eventId, reaction, "ack");
  }

  split(markdown: string): string[] {
    return partsOf(markdown);
  }

  editEveryMs(_: string, kind: "answer" | "note"): number {
    const { editEveryMs } = this.#deps.config;
    return kind === "note" ? Math.min(editEveryMs, NOTE_EVERY_MS) : editEveryMs;
  }

  hasButtons(): boolean {
    return true;
  }

  async post(posting: Posting<UploadedFile>): Promise<MatrixRef> {
    const { chatId, text, kind, metadata, key, isFirst, files: [file], buttons } = posting;
    const place = this.#writer.placeOf(chatId);
    const { eventId: question } = metadata;
    const isNew = buttons !== undefined || question === undefined ||
      this.#answered.get(chatId) !== question;
    const relation = relationOf(place, isFirst && isNew && kind === "answer" ? metadata : {});
    const isBoth = buttons?.length === 2;
    const hint = () => this.#deps.session.words("react", { yes: YES, no: NO });
    const said = isBoth ? `${text}\n\n${hint()}` : text;
    const content = file === undefined
      ? textContent(said, kind === "answer" ? "m.text" : "m.notice", relation)
      : { ...file.content, ...relates(relation) };
    const eventId = await this.#writer.send(place.roomId, content, "message", key);
    if (kind === "answer") this.#noteAnswered(chatId, question);
    if (buttons !== undefined) await this.#offer(place.roomId, eventId, buttons);
    return { chatId, eventId };
  }

  #noteAnswered(chatId: string, question: unknown): void {
    const answered = this.#answered;
    answered.delete(chatId);
    answered.set(chatId, question);
    if (answered.size > MAX_CHATS) answered.delete(answered.keys().next().value!);
  }

  /** Reactions only save typing: without them people choose the same two by hand. */
  async #offer(
    roomId: string,
    eventId: string,
    buttons: readonly ApprovalButton[],
  ): Promise<void> {
    for (const { isApproval } of buttons) {
      const mark = isApproval ? YES : NO;
      await this.#writer.react(roomId, eventId, mark, "react").catch((error) =>
        this.#deps.session.host.log.warning("A reaction could not be added", {
          reason: reasonOf(matrixFault(error)),
        })
      );
    }
  }

  async edit({ chatId, eventId }: MatrixRef, { text, kind }: Edit): Promise<void> {
    const { roomId } = this.#writer.placeOf(chatId);
    const event = editContent(eventId, text, kind === "note" ? "m.notice" : "m.text");
    await this.#writer.send(roomId, event);
  }

  /** It says how much was done: what is deleted leaves a mark in the room as well. */
  async removeNote(ref: MatrixRef, texts: number): Promise<void> {
    const text = this.#words("steps", { count: texts });
    await this.edit(ref, { text, kind: "note", isFinal: true });
  }

  /** A click on a reaction, or one that somebody has chosen by hand. */
  async #onReaction(roomId: string, event: MatrixEvent): Promise<void> {
    const { rel_type, event_id: eventId, key } = record(event.content["m.relates_to"]);
    if (rel_type !== "m.annotation" || typeof key !== "string") return;
    await this.#deps.session.react({
      isOn: (ref) => {
        const { chatId, eventId: mine } = ref as MatrixRef;
        return mine === eventId && placeOf(chatId)?.roomId === roomId;
      },
      emoji: key,
      senderId: event.sender,
      senderName: this.#rooms.nameOf(roomId, event.sender),
      id: event.eventId,
    });
  }

  async #showTyping(chatId: string, timeoutMs: number): Promise<void> {
    const { api, userId } = this.#account;
    await api.typing(placeOf(chatId)?.roomId ?? chatId, userId, timeoutMs);
  }

  async #upload({ path, name }: OutgoingFile, chatId: string): Promise<UploadedFile> {
    const bytes = await Deno.readFile(path);
    const content = fileContent(name, bytes);
    const { roomId } = this.#writer.placeOf(chatId);
    const { api } = this.#account;
    const sealed = this.#encryption.sealFile(roomId, bytes);
    if (sealed !== undefined) {
      // The server learns neither its name nor its kind.
      const url = await api.upload(sealed.bytes, "application/octet-stream", "");
      return { name, content: { ...content, file: { ...sealed.file, url } } };
    }
    const { mimetype } = record(content.info);
    const url = await api.upload(bytes, String(mimetype), String(content.body));
    return { name, content: { ...content, url } };
  }

  async #maxUploadBytes(): Promise<number> {
    this.#uploadLimit ??= this.#account.api.uploadLimit();
    try {
      return Math.min(await this.#uploadLimit ?? Infinity, MAX_SENT_BYTES);
    } catch {
      // The upload itself will tell.
      this.#uploadLimit = undefined;
      return MAX_SENT_BYTES;
    }
  }
}
