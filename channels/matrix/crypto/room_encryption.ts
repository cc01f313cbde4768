/**
 * Encryption as the channel uses it: opened with the first encrypted room, and what can't be read yet waits
 * on the disk for its key.
 *
 * Invariants:
 * - Nothing goes into an encrypted room in clear text but the word that it can't be read there.
 * - An event that can't be read is on the disk before the sync's place moves over it, and is read once, when
 *   its key comes, also after a restart.
 *
 * @module
 */

import { NotConnectedError, PermanentDeliveryError } from "../../../lib/channel/delivery_error.ts";
import {
  type PlatformSession,
  reasonOf,
  UnreadableFileError,
} from "../../../lib/channel/platform/mod.ts";
import type { Verification, VerifyAction } from "../../../lib/channel/verification.ts";
import { matrixFault } from "../api/matrix_faults.ts";
import type { Json } from "../api/matrix_api.ts";
import type { MatrixSession } from "../api/matrix_login.ts";
import type { ForeignWriters } from "../inbound/foreign_writers.ts";
import type { MatrixConfig } from "../settings.ts";
import type { Rooms } from "../sync/rooms.ts";
import type { MatrixEvent, SyncAnswer } from "../sync/sync_answer.ts";
import { Encryption } from "./encryption.ts";
import { EncryptionUnavailableError, hasKeys, openMachine } from "./open_machine.ts";
import { Verifier } from "./verifier.ts";

/** What encryption works with. */
export interface RoomEncryptionDeps {
  config: Pick<MatrixConfig, "encryption" | "password">;
  account: MatrixSession;
  rooms: Rooms;
  foreign: Pick<ForeignWriters, "sending">;
  session: Pick<PlatformSession<never>, "host" | "memory">;
  /** Whether `allowFrom` lists somebody: of others nothing waits. */
  isListed: (userId: string) => boolean;
}

/** An event whose key has not come. */
interface Waiting {
  roomId: string;
  sessionId: string;
  event: MatrixEvent;
  /** Milliseconds since 1970. */
  since: number;
}

/** Kind under which they are remembered. */
const WAITING = "undecrypted";

/** How long a key is waited for: clients that were away send it when they come back. */
const KEPT_MS = 7 * 24 * 60 * 60_000;

export class RoomEncryption {
  readonly #deps: RoomEncryptionDeps;
  #encryption: Encryption | undefined;
  #opening: Promise<void> | undefined;
  #verifier: Verifier | undefined;
  /** Why encrypted rooms can't be read. */
  #problem: string | undefined;
  /** Ids of events that wait. */
  readonly #waiting: Set<string>;
  /** After a start each of them is tried. */
  #isFirst = true;

  constructor(deps: RoomEncryptionDeps) {
    this.#deps = deps;
    this.#waiting = new Set(deps.session.memory.entries(WAITING).map(([id]) => id));
    if (deps.config.encryption === "off") this.#problem = "encryption is off";
  }

  get isReadable(): boolean {
    return this.#problem === undefined;
  }

  /** Opens it where a room is encrypted, or `isNeeded`. Rejects as the SDK does. */
  async open(isNeeded = false): Promise<void> {
    const { rooms, session: { memory } } = this.#deps;
    if (this.#encryption !== undefined || this.#problem !== undefined) return;
    if (!isNeeded && !rooms.hasEncrypted && !hasKeys(memory)) return;
    this.#opening ??= this.#open().finally(() => this.#opening = undefined);
    await this.#opening;
  }

  async #open(): Promise<void> {
    const { config, account, foreign, session: { host, memory }, isListed } = this.#deps;
    const { userId, deviceId } = account;
    const { stateDir, stateKey, log } = host;
    let encryption: Encryption | undefined;
    try {
      encryption = new Encryption({
        opened: await openMachine({ userId, deviceId, stateDir, stateKey, memory }),
        account,
        sendEvent: (roomId, type, content, txnId) =>
          foreign.sending(txnId, () => account.api.send(roomId, type, content, txnId)),
        isVerifiedOnly: config.encryption === "verified",
        auth: config.password === "" ? undefined : { user: userId, password: config.password },
        log,
      });
      await encryption.begin();
    } catch (error) {
      await encryption?.close();
      const fault = matrixFault(error);
      const isLasting = error instanceof EncryptionUnavailableError ||
        fault instanceof PermanentDeliveryError;
      if (!isLasting) throw error;
      this.#problem = reasonOf(fault);
      return log.warning("Encrypted rooms can't be read", { reason: this.#problem });
    }
    this.#encryption = encryption;
    const mayVerify = (id: string) => id === userId || isListed(id);
    this.#verifier = new Verifier(encryption, { deviceId, mayVerify });
  }

  /** Takes in keys. Nobody waits for what they make necessary at the homeserver. */
  async takeSync(answer: SyncAnswer): Promise<void> {
    await this.open();
    const encryption = this.#encryption;
    if (encryption === undefined) return;
    await encryption.takeSync(answer);
    encryption.flush().catch((error) =>
      this.#deps.session.host.log.info("Keys of sessions are asked for again", {
        reason: String(error),
      })
    );
  }

  /** The homeserver's place is lost. */
  async restarted(): Promise<void> {
    await this.#encryption?.forgetDevices();
  }

  /** The event in clear text; undefined for one that can't be read, yet or ever. */
  async read(roomId: string, event: MatrixEvent): Promise<MatrixEvent | undefined> {
    const { account, config, session, isListed } = this.#deps;
    const isEncrypted = event.type === "m.room.encrypted" && event.stateKey === undefined;
    const encryption = this.#encryption;
    if (encryption === undefined || event.sender === account.userId) return event;
    if (!isEncrypted) {
      const isPlain = event.type === "m.room.message" && this.#deps.rooms.isEncrypted(roomId);
      return isPlain && config.encryption === "verified" ? undefined : event;
    }
    const reading = await encryption.decrypt(roomId, event);
    if (reading.kind === "event") {
      // The same event once more: it is read now, and not a second time when its key comes.
      if (this.#waiting.has(event.eventId)) this.taken(event.eventId);
      return reading.event;
    }
    if (!isListed(event.sender)) return undefined;
    const { host: { log, clock }, memory } = session;
    const about = { room: roomId, event: event.eventId, sender: event.sender };
    if (reading.kind === "refused") {
      log.warning("A message can't be decrypted, and is left out", {
        ...about,
        reason: reading.reason,
      });
      return undefined;
    }
    if (this.#waiting.has(event.eventId)) return undefined;
    const since = Math.floor(clock.now());
    memory.set(WAITING, event.eventId, { roomId, event, sessionId: reading.sessionId, since });
    this.#waiting.add(event.eventId);
    log.info("A message waits for its key", about);
    return undefined;
  }

  /** Events that can be read now. To be told by `taken` when they are on the disk. */
  async late(): Promise<{ roomId: string; event: MatrixEvent }[]> {
    const encryption = this.#encryption;
    if (encryption === undefined) return [];
    const arrived = encryption.takeArrived();
    const isFirst = this.#isFirst;
    this.#isFirst = false;
    if (this.#waiting.size === 0 || (!isFirst && arrived.size === 0)) return [];
    const { memory, host: { clock, log } } = this.#deps.session;
    const found = [];
    for (const [eventId, waiting] of memory.entries<Waiting>(WAITING)) {
      const { roomId, sessionId, event, since } = waiting;
      if (!isFirst && !arrived.has(sessionId)) continue;
      const reading = await encryption.decrypt(roomId, event);
      if (reading.kind === "event") found.push({ roomId, event: reading.event });
      else if (reading.kind === "refused" || clock.now() - since > KEPT_MS) {
        log.warning("A message can't be decrypted, and is left out", {
          ...{ room: roomId, event: eventId, sender: event.sender },
          reason: reading.kind === "refused" ? reading.reason : "its key has not come for a week",
        });
        this.taken(eventId);
      }
    }
    return found;
  }

  taken(eventId: string): void {
    this.#deps.session.memory.delete(WAITING, eventId);
    this.#waiting.delete(eventId);
  }

  /** One that still waits is read by nobody any more. */
  redacted(roomId: string, eventId: string): void {
    const waiting = this.#deps.session.memory.get<Waiting>(WAITING, eventId);
    if (waiting?.roomId === roomId) this.taken(eventId);
  }

  /** What to send into a room: its type and content. */
  async seal(
    roomId: string,
    type: string,
    content: Json,
  ): Promise<{ type: string; content: Json }> {
    const { rooms } = this.#deps;
    // As in every client: servers count reactions.
    if (!rooms.isEncrypted(roomId) || type === "m.reaction") return { type, content };
    const encryption = this.#for(roomId);
    const room = rooms.encryptionOf(roomId);
    return {
      type: "m.room.encrypted",
      content: await encryption.encrypt(roomId, type, content, room),
    };
  }

  /** A file for a room: what to upload, and what its event says of it beside the address. */
  sealFile(
    roomId: string,
    bytes: Uint8Array<ArrayBuffer>,
  ): { bytes: Uint8Array<ArrayBuffer>; file: Json } | undefined {
    if (!this.#deps.rooms.isEncrypted(roomId)) return undefined;
    const sealed = this.#for(roomId).olm.Attachment.encrypt(bytes);
    const file = JSON.parse(sealed.mediaEncryptionInfo!) as Json;
    return { bytes: sealed.encryptedData as Uint8Array<ArrayBuffer>, file };
  }

  /** Throws an UnreadableFileError for bytes that are not those that were sealed. */
  openFile(bytes: Uint8Array, sealed: string): Uint8Array<ArrayBuffer> {
    const encryption = this.#encryption;
    if (encryption === undefined) throw new NotConnectedError("its keys are not open yet");
    const { Attachment, EncryptedAttachment } = encryption.olm;
    try {
      return Attachment.decrypt(new EncryptedAttachment(bytes, sealed)) as Uint8Array<ArrayBuffer>;
    } catch {
      throw new UnreadableFileError("it isn't the file that was sent");
    }
  }

  async verify(action: VerifyAction): Promise<Verification> {
    await this.open(true);
    if (this.#verifier === undefined) throw new PermanentDeliveryError(this.#problem!);
    return await this.#verifier.step(action);
  }

  /** Messages that wait for their keys. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Why encrypted rooms can't be read; undefined where they can. */
  get problem(): string | undefined {
    return this.#problem;
  }

  async close(): Promise<void> {
    const encryption = this.#encryption;
    this.#encryption = undefined;
    await encryption?.close();
  }

  /** Throws where nothing can be encrypted: nothing leaves in clear text then. */
  #for(roomId: string): Encryption {
    if (this.#encryption !== undefined) return this.#encryption;
    if (this.#problem === undefined) throw new NotConnectedError("its keys are not open yet");
    throw new PermanentDeliveryError(
      `The room ${roomId} is encrypted, and nothing is sent there in clear text: ${this.#problem}`,
    );
  }
}
