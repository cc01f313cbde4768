/**
 * The keys of the session at work: what the homeserver has to be asked and told for them, and what they
 * encrypt and decrypt (client-server API, "End-to-End Encryption").
 *
 * Invariants:
 * - One request of the machine is under way at a time, so that no key is claimed or shared twice.
 * - A key that came is on the disk before `takeSync` resolves, so before the sync's place is.
 *
 * @module
 */

import { PermanentDeliveryError } from "../../../lib/channel/delivery_error.ts";
import type { CollectStrategy, DeviceId, OlmMachine } from "@matrix-org/matrix-sdk-crypto-wasm";
import type { Log } from "../../../lib/base/log.ts";
import { matrixFault } from "../api/matrix_faults.ts";
import type { Json, MatrixApi } from "../api/matrix_api.ts";
import type { MatrixSession } from "../api/matrix_login.ts";
import {
  list,
  type MatrixEvent,
  readMatrixEvent,
  record,
  type SyncAnswer,
} from "../sync/sync_answer.ts";
import { EncryptionUnavailableError, type Olm, type OpenMachine } from "./open_machine.ts";

export interface EncryptionDeps {
  opened: OpenMachine;
  account: Pick<MatrixSession, "userId" | "deviceId"> & { api: Pick<MatrixApi, "ask"> };
  /** Sends an event of ours into a room; resolves with its id. */
  sendEvent: MatrixApi["send"];
  /** Keys go to verified sessions alone, and nothing of others is heard. */
  isVerifiedOnly: boolean;
  /** Proves who we are, where the homeserver wants that for the account's own signatures. */
  auth: { user: string; password: string } | undefined;
  log: Pick<Log, "info" | "warning">;
}

/** A request of the machine. */
interface MachineRequest {
  id?: string;
  type: number;
  body: string;
  event_type?: string;
  txn_id?: string;
  room_id?: string;
}

/** An event of a room, read. */
export type Reading =
  | { kind: "event"; event: MatrixEvent }
  /** Its key may come. */
  | { kind: "waits"; sessionId: string }
  | { kind: "refused"; reason: string };

const VERIFICATION_REQUEST = "m.key.verification.request";
const MAX_ASKERS = 100;

/** What a room asks for is taken within these bounds. */
const MAX_ROTATION_MESSAGES = 10_000;
const MAX_ROTATION_MS = 30 * 24 * 60 * 60_000;

export class Encryption {
  readonly #deps: EncryptionDeps;
  readonly #olm: Olm;
  readonly #machine: OlmMachine;
  /** Members of rooms, until one comes or goes. */
  readonly #members = new Map<string, readonly string[]>();
  /** Megolm sessions whose keys came since they were asked for. */
  #arrived = new Set<string>();
  /** Who has asked to verify the session. */
  readonly #askers = new Set<string>();
  #last: Promise<unknown> = Promise.resolve();

  constructor(deps: EncryptionDeps) {
    this.#deps = deps;
    ({ olm: this.#olm, machine: this.#machine } = deps.opened);
    this.#machine.registerRoomKeyUpdatedCallback((keys) => {
      for (const { sessionId } of keys) this.#arrived.add(sessionId);
      return Promise.resolve();
    });
  }

  get olm(): Olm {
    return this.#olm;
  }

  get machine(): OlmMachine {
    return this.#machine;
  }

  get askers(): readonly string[] {
    return [...this.#askers];
  }

  /** The public key of the session. */
  get key(): string {
    return this.#machine.identityKeys.ed25519.toBase64();
  }

  /** Publishes the keys. Rejects with an EncryptionUnavailableError where the session has others already. */
  async begin(): Promise<void> {
    const { account: { api, userId, deviceId } } = this.#deps;
    const own = await api.ask("POST", "/keys/query", { device_keys: { [userId]: [] } });
    const device = record(record(record(own.device_keys)[userId])[deviceId]);
    const known = record(device.keys)[`ed25519:${deviceId}`];
    if (known !== undefined && known !== this.key) {
      throw new EncryptionUnavailableError(
        `another client has made the keys of the session ${deviceId}, or they were lost: set user and ` +
          "password, or sign that session out and log in again",
      );
    }
    await this.flush();
    const hasIdentity = record(own.master_keys)[userId] !== undefined;
    if (!hasIdentity) await this.#locked(() => this.#makeIdentity());
  }

  /** Whether the account's own signature is on our session. */
  async isVerified(): Promise<boolean> {
    const { userId } = this.#deps.account;
    const identity = await this.#machine.getIdentity(new this.#olm.UserId(userId));
    return identity instanceof this.#olm.OwnUserIdentity && await identity.trustsOurOwnDevice();
  }

  /** Keys that came, and whose sessions have changed. Call `flush` afterwards. */
  async takeSync(answer: SyncAnswer): Promise<void> {
    const { toDevice, devices, keyCounts, fallbackKeys } = answer;
    await this.#meet(
      toDevice.filter(({ type }) => type === VERIFICATION_REQUEST).map(({ sender }) =>
        String(sender)
      ),
    );
    await this.#machine.receiveSyncChanges(
      JSON.stringify(toDevice),
      new this.#olm.DeviceLists(this.#ids(devices.changed), this.#ids(devices.left)),
      new Map(Object.entries(keyCounts)),
      fallbackKeys && new Set(fallbackKeys),
    );
    for (const { roomId, state, timeline, isLimited } of answer.joined) {
      const isChange = isLimited ||
        [...state, ...timeline].some(({ type }) => type === "m.room.member");
      if (isChange) this.#members.delete(roomId);
    }
  }

  /** The server's place is lost, and with it which sessions have changed since. */
  async forgetDevices(): Promise<void> {
    await this.#machine.markAllTrackedUsersAsDirty();
    this.#members.clear();
  }

  /** Sessions whose keys came since the last call. */
  takeArrived(): ReadonlySet<string> {
    const arrived = this.#arrived;
    this.#arrived = new Set();
    return arrived;
  }

  /** Asks and tells the homeserver what the keys need. */
  flush(): Promise<void> {
    return this.#locked(() => this.#sendAll());
  }

  /** The same, and then what somebody's keys are now, signatures too. */
  async learnKeys(userId: string): Promise<void> {
    await this.flush();
    await this.sendNow([this.#machine.queryKeysForUsers(this.#ids([userId]))]);
  }

  /** Sends requests of a verification. */
  sendNow(requests: readonly (MachineRequest | undefined)[]): Promise<void> {
    return this.#locked(async () => {
      for (const request of requests) if (request !== undefined) await this.#send(request);
    });
  }

  /** The content of an `m.room.encrypted` that members of the room can read. `room`: of its `m.room.encryption`. */
  encrypt(roomId: string, type: string, content: Json, room: Json): Promise<Json> {
    return this.#locked(async () => {
      const members = await this.#membersOf(roomId);
      await this.#machine.updateTrackedUsers(this.#ids(members));
      await this.#sendAll();
      const { allDevices, onlyTrustedDevices } = this.#olm.CollectStrategy;
      const readers = this.#deps.isVerifiedOnly ? onlyTrustedDevices() : allDevices();
      return await this.#seal(roomId, type, content, { room, readers });
    });
  }

  async decrypt(roomId: string, event: MatrixEvent): Promise<Reading> {
    const olm = this.#olm;
    const { isVerifiedOnly } = this.#deps;
    const settings = new olm.DecryptionSettings(olm.TrustRequirement.Untrusted);
    try {
      const raw = JSON.stringify(rawOf(roomId, event));
      const decrypted = await this.#machine.decryptRoomEvent(raw, new olm.RoomId(roomId), settings);
      const { type, content } = record(JSON.parse(decrypted.event));
      const read = readMatrixEvent({ ...rawOf(roomId, event), type, content });
      if (read === undefined) return { kind: "refused", reason: "what it holds is no event" };
      const { code, message } = decrypted.shieldState(false);
      const { MismatchedSender, VerificationViolation } = olm.ShieldStateCode;
      // Whoever is about to be verified is not yet.
      if (code !== MismatchedSender && await this.#takeVerification(roomId, read)) {
        return { kind: "event", event: read };
      }
      const isForged = code === MismatchedSender || code === VerificationViolation;
      // As the sender is now: the key may have come before they were verified.
      const isHeard = !isForged && (!isVerifiedOnly ||
        (code === undefined && await this.#isVerified(event.sender, decrypted.senderDevice)));
      return isHeard
        ? { kind: "event", event: { ...read, sentAt: event.sentAt } }
        : { kind: "refused", reason: message ?? "the session that wrote it isn't verified" };
    } catch (error) {
      if (!(error instanceof olm.MegolmDecryptionError)) {
        return { kind: "refused", reason: error instanceof Error ? error.message : String(error) };
      }
      const { MissingRoomKey, UnknownMessageIndex } = olm.DecryptionErrorCode;
      const { session_id: sessionId } = event.content;
      const mayCome = error.code === MissingRoomKey || error.code === UnknownMessageIndex;
      return mayCome && typeof sessionId === "string"
        ? { kind: "waits", sessionId }
        : { kind: "refused", reason: error.description };
    }
  }

  /** What is under way ends first. */
  async close(): Promise<void> {
    await this.#last;
    this.#deps.opened.close();
  }

  async #isVerified(userId: string, deviceId: DeviceId | undefined): Promise<boolean> {
    if (deviceId === undefined) return false;
    const device = await this.#machine.getDevice(new this.#olm.UserId(userId), deviceId);
    return device?.isVerified() === true;
  }

  /** One after the other. */
  #locked<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => {});
    return done;
  }

  async #sendAll(): Promise<void> {
    const claim = await this.#machine.getMissingSessions([]);
    const requests = await this.#machine.outgoingRequests();
    for (const request of [...requests, ...claim === null ? [] : [claim]] as MachineRequest[]) {
      try {
        await this.#send(request);
      } catch (error) {
        // It comes again with the next: one that is refused holds up none of the others.
        const fault = matrixFault(error);
        if (!(fault instanceof PermanentDeliveryError)) throw error;
        this.#deps.log.warning("The homeserver refuses what the keys of a session need", {
          request: request.type,
          reason: fault.message,
        });
      }
    }
  }

  async #send(request: MachineRequest): Promise<void> {
    const { id, type, body, event_type = "", txn_id = "", room_id = "" } = request;
    const { RequestType } = this.#olm;
    const posted = new Map<number, string>([
      [RequestType.KeysUpload, "/keys/upload"],
      [RequestType.KeysQuery, "/keys/query"],
      [RequestType.KeysClaim, "/keys/claim"],
      [RequestType.SignatureUpload, "/keys/signatures/upload"],
    ]).get(type);
    const { account: { api }, sendEvent } = this.#deps;
    const said = JSON.parse(body) as Json;
    let answer: Json;
    if (posted !== undefined) answer = await api.ask("POST", posted, said);
    else if (type === RequestType.ToDevice) {
      const [event, txn] = [event_type, txn_id].map(encodeURIComponent);
      answer = await api.ask("PUT", `/sendToDevice/${event}/${txn}`, said);
    } else {
      const content = await this.#sealForAll(room_id, event_type, said);
      answer = { event_id: await sendEvent(room_id, "m.room.encrypted", content, txn_id) };
    }
    if (id !== undefined) await this.#machine.markRequestAsSent(id, type, JSON.stringify(answer));
  }

  /** Of a verification, which those have to read who are not verified: with a key that nothing else has. */
  async #sealForAll(roomId: string, type: string, content: Json): Promise<Json> {
    const { isVerifiedOnly } = this.#deps;
    const renew = async () => {
      const room = new this.#olm.RoomId(roomId);
      if (isVerifiedOnly) await this.#machine.invalidateGroupSession(room);
    };
    await renew();
    const readers = this.#olm.CollectStrategy.allDevices();
    const sealed = await this.#seal(roomId, type, content, { room: {}, readers });
    await renew();
    return sealed;
  }

  async #seal(
    roomId: string,
    type: string,
    content: Json,
    { room, readers }: { room: Json; readers: CollectStrategy },
  ): Promise<Json> {
    const olm = this.#olm;
    const machine = this.#machine;
    const members = await this.#membersOf(roomId);
    const users = () => this.#ids(members);
    const claim = await machine.getMissingSessions(users());
    if (claim !== null) await this.#send(claim);
    const settings = new olm.EncryptionSettings();
    settings.sharingStrategy = readers;
    const { rotation_period_ms: ms, rotation_period_msgs: messages } = room;
    if (isCount(ms)) settings.rotationPeriod = BigInt(Math.min(ms, MAX_ROTATION_MS)) * 1_000n;
    if (isCount(messages)) {
      settings.rotationPeriodMessages = BigInt(Math.min(messages, MAX_ROTATION_MESSAGES));
    }
    const shared = await machine.shareRoomKey(new olm.RoomId(roomId), users(), settings);
    for (const request of shared) await this.#send(request);
    const text = JSON.stringify(content);
    return JSON.parse(await machine.encryptRoomEvent(new olm.RoomId(roomId), type, text)) as Json;
  }

  /** Whoever is in a room, or invited to it. */
  async #membersOf(roomId: string): Promise<readonly string[]> {
    const known = this.#members.get(roomId);
    if (known !== undefined) return known;
    const path = `/rooms/${encodeURIComponent(roomId)}/members`;
    const { chunk } = await this.#deps.account.api.ask("GET", path);
    const members = list(chunk).map(record).filter(({ type, content }) =>
      type === "m.room.member" &&
      ["join", "invite"].includes(String(record(content).membership))
    ).map(({ state_key }) => String(state_key));
    this.#members.set(roomId, members);
    return members;
  }

  /** Signatures of the account, so that its people need trust one key and not each session. */
  async #makeIdentity(): Promise<void> {
    const { account: { api, userId }, auth, log } = this.#deps;
    const { hasMaster } = await this.#machine.crossSigningStatus();
    const made = await this.#machine.bootstrapCrossSigning(!hasMaster);
    const body = JSON.parse(made.uploadSigningKeysRequest.body) as Json;
    const path = "/keys/device_signing/upload";
    try {
      await api.ask("POST", path, body).catch(async (error) => {
        const { httpStatus, data } = error as { httpStatus?: number; data?: Json };
        if (httpStatus !== 401 || auth === undefined) throw error;
        const { user, password } = auth;
        const identifier = { type: "m.id.user", user };
        const proof = { type: "m.login.password", identifier, password, session: data?.session };
        await api.ask("POST", path, { ...body, auth: proof });
      });
      const { uploadKeysRequest, uploadSignaturesRequest } = made;
      if (uploadKeysRequest) await this.#send(uploadKeysRequest);
      await this.#send(uploadSignaturesRequest);
      await this.#send(this.#machine.queryKeysForUsers(this.#ids([userId])));
    } catch (error) {
      const fault = matrixFault(error);
      const isRefused = fault instanceof PermanentDeliveryError ||
        (error as { httpStatus?: number }).httpStatus === 401;
      if (!isRefused) throw error;
      log.warning(
        "The session can't be vouched for by its account: people see it as not verified",
        {
          reason: fault.message,
          help: "service channels verify",
        },
      );
    }
  }

  /** Takes in an event of a verification by messages of a room; false for any other. */
  async #takeVerification(roomId: string, event: MatrixEvent): Promise<boolean> {
    const isRequest = event.content.msgtype === VERIFICATION_REQUEST;
    if (!isRequest && !event.type.startsWith("m.key.verification.")) return false;
    if (isRequest) await this.#meet([event.sender]);
    const raw = JSON.stringify(rawOf(roomId, event));
    try {
      await this.#machine.receiveVerificationEvent(raw, new this.#olm.RoomId(roomId));
      await this.flush();
    } catch (error) {
      this.#deps.log.info("A step of a verification failed", { reason: String(error) });
    }
    return true;
  }

  /** Learns the sessions of those who want to verify ours: a request of an unknown one counts for nothing. */
  async #meet(askers: readonly string[]): Promise<void> {
    if (askers.length === 0) return;
    for (const asker of askers) this.#askers.add(asker);
    while (this.#askers.size > MAX_ASKERS) this.#askers.delete(this.#askers.values().next().value!);
    await this.#machine.updateTrackedUsers(this.#ids(askers));
    await this.flush();
  }

  #ids(users: readonly string[]) {
    return users.flatMap((user) => {
      try {
        return [new this.#olm.UserId(user)];
      } catch {
        // Whatever a server says: nobody has that id.
        return [];
      }
    });
  }
}

function rawOf(roomId: string, event: MatrixEvent): Json {
  const { eventId, type, sender, sentAt = 0, content, unsigned } = event;
  return {
    ...{ event_id: eventId, type, sender, origin_server_ts: sentAt, content, unsigned },
    room_id: roomId,
  };
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0;
}
