/**
 * Somebody with a client of their own that encrypts: the same library, with its keys in memory, on a
 * homeserver of a test.
 *
 * @module
 */

import * as olm from "@matrix-org/matrix-sdk-crypto-wasm";
import type { Json } from "../api/matrix_api.ts";
import type { FakeHomeserver } from "./fake_homeserver.ts";
import type { FakeEvent } from "./fake_rooms.ts";

/** A request of the library. */
interface Outgoing {
  id?: string;
  type: number;
  body: string;
  event_type?: string;
  room_id?: string;
}

export class FakePerson {
  readonly machine: olm.OlmMachine;
  readonly #server: FakeHomeserver;
  readonly userId: string;
  readonly deviceId: string;
  /** Room keys are kept back while it is set, to be sent by `release`. */
  holdsKeys = false;
  #held: Outgoing[] = [];
  #since: number | undefined;

  private constructor(server: FakeHomeserver, machine: olm.OlmMachine) {
    [this.#server, this.machine] = [server, machine];
    this.userId = machine.userId.toString();
    this.deviceId = machine.deviceId.toString();
  }

  static async open(
    server: FakeHomeserver,
    userId: string = server.senders[0],
    deviceId = "ALICEDEV",
  ): Promise<FakePerson> {
    await olm.initAsync();
    const machine = await olm.OlmMachine.initialize(
      new olm.UserId(userId),
      new olm.DeviceId(deviceId),
    );
    const person = new FakePerson(server, machine);
    await person.sync();
    return person;
  }

  /** Takes in what came, and sends what follows from that. */
  async sync(): Promise<void> {
    const { keys } = this.#server.api;
    const news = keys.news(this.userId, this.deviceId, this.#since) ??
      keys.told(this.userId, this.deviceId);
    this.#since = this.#server.rooms.pos;
    const lists = news.device_lists as { changed: string[] } | undefined;
    await this.machine.receiveSyncChanges(
      JSON.stringify((news.to_device as Json).events),
      new olm.DeviceLists((lists?.changed ?? []).map((id) => new olm.UserId(id)), []),
      new Map(Object.entries(news.device_one_time_keys_count as Record<string, number>)),
      new Set(news.device_unused_fallback_key_types as string[]),
    );
    await this.flush();
  }

  async flush(): Promise<void> {
    for (const request of await this.machine.outgoingRequests()) await this.send(request);
  }

  /** Sends a request of the library. */
  async send(request: Outgoing | undefined): Promise<void> {
    if (request === undefined) return;
    const { keys } = this.#server.api;
    const { id, type, body, event_type = "", room_id = "" } = request;
    const content = JSON.parse(body) as Json;
    let answer: Json = {};
    switch (type) {
      case olm.RequestType.KeysUpload:
        answer = keys.upload(this.userId, this.deviceId, content);
        break;
      case olm.RequestType.KeysQuery:
        answer = keys.query(content);
        break;
      case olm.RequestType.KeysClaim:
        answer = keys.claim(content);
        break;
      case olm.RequestType.SignatureUpload:
        answer = keys.sign(content);
        break;
      case olm.RequestType.ToDevice:
        keys.send(this.userId, event_type, content);
        break;
      case olm.RequestType.RoomMessage: {
        const { event_id } = await this.#put(room_id, event_type, content);
        answer = { event_id };
      }
    }
    if (id !== undefined) await this.machine.markRequestAsSent(id, type, JSON.stringify(answer));
  }

  /** Vouches for the session by the account. */
  async makeIdentity(): Promise<void> {
    const made = await this.machine.bootstrapCrossSigning(true);
    if (made.uploadKeysRequest) await this.send(made.uploadKeysRequest);
    const body = JSON.parse(made.uploadSigningKeysRequest.body) as Json;
    this.#server.api.keys.uploadSigning(this.userId, body);
    await this.send(made.uploadSignaturesRequest);
    await this.sync();
  }

  /** Says something in an encrypted room, to the helper where nothing else is said. */
  say(body: string, content: Json = {}, roomId = this.#server.chatId): Promise<FakeEvent> {
    const mentions = { user_ids: [this.#server.me] };
    return this.write(roomId, "m.room.message", {
      ...{ msgtype: "m.text", body, "m.mentions": mentions },
      ...content,
    });
  }

  /** Writes an event into an encrypted room. */
  async write(roomId: string, type: string, content: Json): Promise<FakeEvent> {
    await this.machine.updateTrackedUsers(this.#members(roomId));
    await this.sync();
    return await this.#put(roomId, type, content);
  }

  async #put(roomId: string, type: string, content: Json): Promise<FakeEvent> {
    const sealed = await this.#seal(roomId, type, content);
    const { userId: sender } = this;
    return this.#server.rooms.add(roomId, { type: "m.room.encrypted", sender, content: sealed });
  }

  /** The content of an event for the members of a room, who are given its key. */
  async #seal(roomId: string, type: string, content: Json): Promise<Json> {
    const { machine } = this;
    const users = () => this.#members(roomId);
    await this.send(await machine.getMissingSessions(users()) ?? undefined);
    const settings = new olm.EncryptionSettings();
    for (const request of await machine.shareRoomKey(new olm.RoomId(roomId), users(), settings)) {
      if (this.holdsKeys) this.#held.push(request);
      else await this.send(request);
    }
    const text = JSON.stringify(content);
    return JSON.parse(await machine.encryptRoomEvent(new olm.RoomId(roomId), type, text));
  }

  #members(roomId: string): olm.UserId[] {
    const { state } = this.#server.rooms.rooms.get(roomId)!;
    return [...state.values()].filter(({ type, content }) =>
      type === "m.room.member" && content.membership === "join"
    ).map(({ state_key }) => new olm.UserId(state_key!));
  }

  /** What is written from now on has a key of its own. */
  async makeNewKeys(roomId: string = this.#server.chatId): Promise<void> {
    await this.machine.invalidateGroupSession(new olm.RoomId(roomId));
  }

  /** Sends the keys that were kept back. */
  async release(): Promise<void> {
    for (const request of this.#held.splice(0)) await this.send(request);
  }

  /** What an event says. */
  async read(event: FakeEvent): Promise<Json> {
    await this.sync();
    const { event_id, type, sender, origin_server_ts, content } = event;
    const raw = JSON.stringify({ event_id, type, sender, origin_server_ts, content });
    const settings = new olm.DecryptionSettings(olm.TrustRequirement.Untrusted);
    const read = await this.machine.decryptRoomEvent(raw, new olm.RoomId(event.roomId), settings);
    return JSON.parse(read.event) as Json;
  }

  /** What the helper has written in a room, decrypted. */
  async heard(roomId = this.#server.chatId): Promise<Json[]> {
    const { me, rooms } = this.#server;
    const sent = rooms.rooms.get(roomId)!.timeline.filter(({ type, sender }) =>
      type === "m.room.encrypted" && sender === me
    );
    const read: Json[] = [];
    for (const event of sent) read.push((await this.read(event)).content as Json);
    return read;
  }

  close(): void {
    this.machine.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}
