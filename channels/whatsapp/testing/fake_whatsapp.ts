/**
 * WhatsApp's server of the test, at 127.0.0.1: Noise, binary nodes and end-to-end encryption as the real one has
 * them. What a message says is known to the phones of its people alone.
 */

import { Buffer } from "node:buffer";
import {
  aesDecryptWithIV,
  aesEncrypWithIV,
  type BinaryNode,
  type Contact,
  Curve,
  encodeBigEndian,
  getBinaryNodeChild,
  getBinaryNodeChildren,
  getMediaKeys,
  hmacSign,
  jidDecode,
  type MediaType,
  normalizeMessageContent,
  type proto,
} from "baileys";
import type { ConnectAnswer } from "../../../lib/channel/descriptor.ts";
import type {
  ChannelPlatform,
  PlatformMessage,
  PlatformSent,
} from "../../../lib/channel/testing/mod.ts";
import { LoginStore } from "../login_store.ts";
import { silenceConsole } from "../wa_socket.ts";
import { type DeviceKeys, FakePerson } from "./fake_person.ts";
import { FakePhone } from "./fake_phone.ts";
import { NoiseServer, ROOT_KEY } from "./noise_server.ts";

/** The linked device, and the account that it is of. */
const NUMBER = "4915100000001";
const DEVICE = 7;
const JID = `${NUMBER}:${DEVICE}@s.whatsapp.net`;
const LID = `9${NUMBER}:${DEVICE}@lid`;

export const GROUP = "120363000000000001@g.us";

/** A message as the phones of a chat show it. */
export interface ShownMessage {
  id: string;
  chatId: string;
  content: proto.IMessage;
  /** Texts that it has had. */
  texts: string[];
  isDeleted: boolean;
}

/** A message as its sender has it. */
interface Written {
  from: FakePerson;
  attrs: Record<string, string>;
  message: proto.IMessage;
  /** As the server has it. */
  sealed?: BinaryNode[];
}

interface Client {
  noise: NoiseServer;
  isIn: boolean;
  /** Messages that it was given. */
  given: Set<string>;
  close: () => void;
}

export class FakeWhatsApp implements ChannelPlatform {
  readonly people = [
    new FakePerson("4917011111111", "Ann"),
    new FakePerson("4917022222222", "Bob"),
  ];
  readonly senders = [this.people[0]!.number, this.people[1]!.number] as const;
  readonly chatId: string;
  readonly hasFences = true;
  readonly limit = { max: 8_000, sizeOf: ({ text }: PlatformSent) => text.length };
  readonly section: Record<string, unknown>;
  readonly shown: ShownMessage[] = [];
  /** Reactions of the account, by the id of the message. */
  readonly reactions = new Map<string, string>();
  readonly read: string[] = [];
  /** Files, by path; encrypted. */
  readonly files = new Map<string, Uint8Array>();
  /** Stanzas that have come, by tag and namespace. */
  readonly asked: string[] = [];
  /** Told at the next login in the place of success. */
  failure: Record<string, string> | undefined;
  isInGroup = true;
  /** Messages that the phone of whoever gets them can't read at first. */
  unreadable = 0;
  /** Sockets that were opened so far. */
  connections = 0;
  readonly #loginName = LoginStore.newName();
  readonly #phone = new FakePhone();
  readonly #owner = new FakePerson(NUMBER, "Owner");
  readonly #clients = new Set<Client>();
  /** Messages that the device has not confirmed, and all that there were. */
  readonly #waiting = new Set<string>();
  readonly #written = new Map<string, Written>();
  readonly #acknowledged: string[] = [];
  readonly #typing = new Set<string>();
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  readonly #ending = new AbortController();
  #device: DeviceKeys | undefined;
  #isLinked = false;
  #isRevoked = false;
  #refusals: string[] = [];
  #last: string | undefined;
  #count = 0;
  #changed = Promise.withResolvers<void>();
  #working: Promise<void> = Promise.resolve();
  #code: string | undefined;

  /** Where people write and react. */
  readonly #room: typeof GROUP | "direct";

  private constructor(room: typeof GROUP | "direct") {
    silenceConsole();
    this.#room = room;
    this.chatId = room === "direct" ? this.senders[0] : room;
    this.#server = Deno.serve({
      ...{ hostname: "127.0.0.1", port: 0, signal: this.#ending.signal, onListen() {} },
    }, (request) => this.#answer(request));
    this.section = {
      url: `http://127.0.0.1:${this.#server.addr.port}/ws/chat`,
      serverKey: ROOT_KEY,
      login: this.#loginName,
      respond: "all",
    };
  }

  /** One where people write to the account, or in the group. */
  static start(room: typeof GROUP | "direct" = "direct"): Promise<FakeWhatsApp> {
    return Promise.resolve(new FakeWhatsApp(room));
  }

  /** As if the folder's channel had been linked before. */
  async prepare(stateDir: string, stateKey: Uint8Array): Promise<void> {
    const login = await LoginStore.open({ stateDir, stateKey }, this.#loginName);
    const { creds } = login;
    const { signedIdentityKey, signedPreKey: { keyId, keyPair, signature }, registrationId } =
      creds;
    const identity = signedIdentityKey.public;
    const signedPreKey = { keyId, publicKey: keyPair.public, signature };
    this.#device = { jid: LID, registrationId, identity, signedPreKey };
    this.#isLinked = true;
    const me: Contact = { id: JID, lid: LID, name: "Agent" };
    Object.assign(creds, { me, account: this.#phone.sign(identity), accountSyncCounter: 1 });
    const { details, accountSignatureKey } = creds.account!;
    const own = Uint8Array.from([6, 1, ...details!, ...identity, ...accountSignatureKey!]);
    creds.account!.deviceSignature = Curve.sign(signedIdentityKey.private, own);
    login.saveCreds();
    login.close();
  }

  async deliver(message: PlatformMessage): Promise<string> {
    while (![...this.#clients].some(({ isIn }) => isIn)) await this.changed();
    return await this.deliverAway(message);
  }

  /** Kept for the device, where it is not there. */
  async deliverAway({ text, senderId, from }: PlatformMessage): Promise<string> {
    if (from === "person") return await this.write(senderId, { conversation: text });
    const bot = { from: `13135550002@bot`, ...this.#newAttrs("text") };
    const own = {
      from: `${NUMBER}@s.whatsapp.net`,
      recipient: this.people[0]!.jid,
      ...this.#newAttrs("text"),
    };
    return await this.#dispatch({
      from: this.#owner,
      attrs: from === "bot" ? bot : own,
      message: { conversation: text },
    });
  }

  /** Somebody sends something, to the account or to the group. */
  async write(
    senderId: string,
    message: proto.IMessage,
    { to = this.#room, ageMs = 0 }: { to?: typeof GROUP | "direct"; ageMs?: number } = {},
  ): Promise<string> {
    const from = this.people.find(({ number }) => number === senderId)!;
    const attrs = this.#newAttrs(message.reactionMessage ? "reaction" : "text");
    attrs.t = now(ageMs);
    const who: Record<string, string> = to === "direct"
      ? { from: from.lid, sender_pn: from.jid }
      : { from: to, participant: from.lid, participant_pn: from.jid, addressing_mode: "lid" };
    return await this.#dispatch({ from, attrs: { ...attrs, ...who, notify: from.name }, message });
  }

  sent(): readonly PlatformSent[] {
    return this.shown.filter(({ isDeleted }) => !isDeleted).map(({ chatId, content, texts }) => {
      const file = fileIn(content);
      return {
        chatId,
        text: texts.at(-1) ?? "",
        ...file !== undefined && { files: [file.fileName ?? nameOf(file)] },
      };
    });
  }

  acknowledged(): readonly string[] {
    return this.#acknowledged;
  }

  /** The sender's phone takes it for lost. */
  async redeliver(): Promise<void> {
    await this.#queue(() => this.#push(this.#last!, { count: "1" }));
  }

  async goDown(): Promise<void> {
    for (const { close } of this.#clients) close();
    this.#ending.abort();
    await this.#server.finished;
  }

  /** Ends every connection; the next one is taken. */
  cut(): void {
    for (const { close } of this.#clients) close();
  }

  refuse(kind: "permanent" | "temporary"): void {
    this.refuseWith(kind === "permanent" ? 403 : 500);
  }

  refuseWith(code: number): void {
    this.#refusals.push(String(code));
  }

  /** The next message is taken, and the connection is cut before that is said. */
  cutBehindNext(): void {
    this.#refusals.push("cut");
  }

  /** A file as a phone uploads it, for a message of its kind. */
  async upload(bytes: Uint8Array, kind: "image" | "audio" | "document", mimetype: string) {
    const mediaKey = crypto.getRandomValues(new Uint8Array(32));
    const { iv, cipherKey, macKey } = await getMediaKeys(mediaKey, kind);
    const data = aesEncrypWithIV(Buffer.from(bytes), Buffer.from(cipherKey), Buffer.from(iv));
    const mac = hmacSign(Buffer.concat([iv, data]), macKey!).subarray(0, 10);
    const directPath = `/v/${crypto.randomUUID()}`;
    this.files.set(directPath, Buffer.concat([data, mac]));
    return { mediaKey, directPath, mimetype, fileLength: bytes.length };
  }

  /** What a file of the account says to whoever has its message. */
  async open({ mediaKey, directPath }: proto.Message.IDocumentMessage, kind: MediaType) {
    const { iv, cipherKey } = await getMediaKeys(mediaKey!, kind);
    const sealed = Buffer.from(this.files.get(directPath!)!);
    return aesDecryptWithIV(sealed.subarray(0, -10), Buffer.from(cipherKey), Buffer.from(iv));
  }

  isTyping(): boolean {
    return this.#typing.size > 0;
  }

  /** With the reaction that the message asks for. */
  async pressButton(button: "approve" | "deny", senderId: string): Promise<void> {
    const mark = button === "approve" ? "👍" : "👎";
    const message = this.shown.findLast(({ texts }) => /Approval needed/.test(texts[0] ?? ""));
    const asks = message?.texts.at(-1)?.includes(mark);
    if (message === undefined || (button === "approve" && !asks)) {
      throw new Error(`Nothing asks for ${mark}`);
    }
    await this.react(senderId, message.id, mark);
  }

  async react(senderId: string, id: string, text: string): Promise<string> {
    const remoteJid = this.#room === "direct" ? `${NUMBER}@s.whatsapp.net` : this.#room;
    const key = { remoteJid, fromMe: false, id };
    return await this.write(senderId, { reactionMessage: { key, text } });
  }

  /** The device is removed on the phone. */
  revoke(): void {
    this.#isRevoked = true;
    const conflict = { tag: "conflict", attrs: { type: "device_removed" } };
    this.#end({ tag: "stream:error", attrs: { code: "401" }, content: [conflict] });
  }

  /** Ends connections with what a node says. */
  #end(node: BinaryNode): void {
    for (const { noise, close } of this.#clients) {
      noise.send(node);
      close();
    }
  }

  /** Another program logs in as the same device. */
  replace(): void {
    const conflict = { tag: "conflict", attrs: { type: "replaced" } };
    this.#end({ tag: "stream:error", attrs: {}, content: [conflict] });
  }

  async confirm(show: ConnectAnswer["show"]): Promise<void> {
    if (show?.qr !== undefined) {
      const { identity, secret } = this.#phone.scan(show.qr);
      return this.#pair(this.#phone.deviceIdentity({ identity, secret }));
    }
    this.#code = show!.code!;
    this.#toAll({
      tag: "notification",
      attrs: { ...this.#newAttrs("link_code_companion_reg"), from: "s.whatsapp.net" },
      content: [await this.#phone.type(this.#code)],
    });
  }

  get isLinked(): boolean {
    return this.#isLinked;
  }

  changed(): Promise<void> {
    return this.#changed.promise;
  }

  async close(): Promise<void> {
    for (const { close } of this.#clients) close();
    this.#ending.abort();
    await this.#server.finished;
    await this.#working;
    for (const person of [...this.people, this.#owner]) person.close();
  }

  async #answer(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    if (pathname === "/ws/chat") return this.#upgrade(request);
    if (request.method === "POST") {
      const path = `/v/${pathname.split("/").pop()}`;
      this.files.set(path, new Uint8Array(await request.arrayBuffer()));
      return Response.json({ url: `https://mmg.whatsapp.net${path}`, direct_path: path });
    }
    const bytes = this.files.get(pathname);
    return bytes === undefined
      ? new Response(null, { status: 404 })
      : new Response(bytes as Uint8Array<ArrayBuffer>);
  }

  #upgrade(request: Request): Response {
    const { socket, response } = Deno.upgradeWebSocket(request);
    socket.binaryType = "arraybuffer";
    const client: Client = {
      isIn: false,
      given: new Set(),
      close: () => socket.close(),
      noise: new NoiseServer({
        send: (bytes) => {
          if (socket.readyState === WebSocket.OPEN) socket.send(bytes as Uint8Array<ArrayBuffer>);
        },
        onLogin: (payload) => this.#login(client, payload),
        onNode: (node) => this.#queue(() => this.#take(client, node)),
      }),
    };
    this.#clients.add(client);
    this.connections++;
    socket.onmessage = ({ data }) => client.noise.take(new Uint8Array(data));
    socket.onclose = () => {
      this.#clients.delete(client);
      this.#wake();
    };
    return response;
  }

  /** One after the other, as the ratchets go on with each message. */
  #queue<T>(work: () => Promise<T> | T): Promise<T> {
    const result = this.#working.then(work);
    this.#working = result.then(() => {}, () => {});
    return result;
  }

  #login({ noise, close }: Client, payload: proto.ClientPayload): void {
    const client = [...this.#clients].find((one) => one.noise === noise)!;
    if (payload.devicePairingData) {
      const { eRegid, eIdent, eSkeyId, eSkeyVal, eSkeySig } = payload.devicePairingData;
      const numberOf = (bytes: Uint8Array) => bytes.reduce((all, byte) => all * 256 + byte, 0);
      this.#device = {
        jid: LID,
        registrationId: numberOf(eRegid!),
        identity: eIdent!,
        signedPreKey: { keyId: numberOf(eSkeyId!), publicKey: eSkeyVal!, signature: eSkeySig! },
      };
      const refs = ["ref1", "ref2"].map((ref) => ({
        tag: "ref",
        attrs: {},
        content: new TextEncoder().encode(ref),
      }));
      const content = [{ tag: "pair-device", attrs: {}, content: refs }];
      return noise.send({
        tag: "iq",
        attrs: { ...this.#newAttrs("set"), from: "s.whatsapp.net" },
        content,
      });
    }
    const isKnown = this.#isLinked && !this.#isRevoked && String(payload.username) === NUMBER &&
      payload.device === DEVICE;
    const failure = isKnown ? this.failure : { reason: "401" };
    if (failure !== undefined) {
      this.failure = undefined;
      noise.send({ tag: "failure", attrs: failure });
      return close();
    }
    noise.send({ tag: "success", attrs: { t: now(), lid: LID } });
    client.isIn = true;
    this.#wake();
    void this.#queue(async () => {
      for (const id of this.#waiting) await this.#push(id, { offline: "1" });
      const offline = { tag: "offline", attrs: { count: String(this.#waiting.size) } };
      noise.send({ tag: "ib", attrs: { from: "s.whatsapp.net" }, content: [offline] });
    });
  }

  #pair(identity: Uint8Array): void {
    this.#isLinked = true;
    const content: BinaryNode[] = [
      { tag: "device-identity", attrs: {}, content: identity },
      { tag: "platform", attrs: { name: "android" } },
      { tag: "device", attrs: { jid: JID, lid: LID } },
    ];
    this.#toAll({
      tag: "iq",
      attrs: { ...this.#newAttrs("set"), from: "s.whatsapp.net" },
      content: [{ tag: "pair-success", attrs: {}, content }],
    });
  }

  async #take(client: Client, node: BinaryNode): Promise<void> {
    const { tag, attrs } = node;
    this.asked.push([tag, attrs.xmlns ?? attrs.type ?? ""].join(" ").trim());
    switch (tag) {
      case "iq":
        await this.#takeIq(client, node);
        break;
      case "message":
        await this.#takeMessage(client, node);
        break;
      case "receipt":
        await this.#takeReceipt(client, node);
        break;
      case "chatstate": {
        const isTyping = getBinaryNodeChild(node, "composing") !== undefined;
        if (isTyping) this.#typing.add(attrs.to!);
        else this.#typing.delete(attrs.to!);
      }
    }
    this.#wake();
  }

  async #takeIq({ noise, close }: Client, node: BinaryNode): Promise<void> {
    const { id, xmlns, type, to } = node.attrs;
    const answer = (content: BinaryNode[] = []) =>
      noise.send({ tag: "iq", attrs: { id: id!, type: "result", from: to ?? "" }, content });
    const fail = (code: string, text: string) =>
      noise.send({
        tag: "iq",
        attrs: { id: id!, type: "error", from: to ?? "" },
        content: [{ tag: "error", attrs: { code, text } }],
      });
    if (type === "result") {
      if (getBinaryNodeChild(node, "pair-device-sign") === undefined) return;
      noise.send({ tag: "stream:error", attrs: { code: "515" } });
      return close();
    }
    const [child] = Array.isArray(node.content) ? node.content : [];
    switch (`${xmlns} ${child?.tag}`) {
      case "encrypt count":
        return answer([{
          tag: "count",
          attrs: { value: this.#device === undefined ? "0" : "100" },
        }]);
      case "encrypt digest":
        return answer([{ tag: "digest", attrs: {} }]);
      case "encrypt key":
        return answer([{
          tag: "list",
          attrs: {},
          content: getBinaryNodeChildren(child, "user").flatMap(({ attrs }) =>
            this.#personAt(attrs.jid!)?.bundle(attrs.jid!) ?? []
          ),
        }]);
      case "usync usync":
        return answer([{ tag: "usync", attrs: {}, content: [this.#devicesOf(child!)] }]);
      case "w:sync:app:state sync": {
        const content = getBinaryNodeChildren(child, "collection").map(({ tag, attrs }) => ({
          tag,
          attrs: { name: attrs.name!, version: "0" },
        }));
        return answer([{ tag: "sync", attrs: {}, content }]);
      }
      case "w:m media_conn": {
        const host = { tag: "host", attrs: { hostname: `127.0.0.1:${this.#server.addr.port}` } };
        return answer([{
          tag: "media_conn",
          attrs: { auth: "auth", ttl: "600" },
          content: [host],
        }]);
      }
      case "w:g2 query":
        return this.isInGroup ? answer([this.#group()]) : fail("403", "forbidden");
      case "privacy privacy":
        return answer([{
          tag: "privacy",
          attrs: {},
          content: [{ tag: "category", attrs: { name: "readreceipts", value: "all" } }],
        }]);
      case "md link_code_companion_reg":
        answer();
        if (child!.attrs.stage === "companion_hello") return this.#phone.asked(child!);
        return this.#pair(
          this.#phone.deviceIdentity(await this.#phone.agree(this.#code!, node)),
        );
      default:
        return answer();
    }
  }

  #personAt(jid: string): FakePerson | undefined {
    const user = jidDecode(jid)?.user;
    return this.people.find((one) =>
      [one.jid, one.lid].some((own) => jidDecode(own)?.user === user)
    );
  }

  #devicesOf(usync: BinaryNode): BinaryNode {
    const users = getBinaryNodeChildren(getBinaryNodeChild(usync, "list"), "user");
    return {
      tag: "list",
      attrs: {},
      content: users.flatMap(({ attrs: { jid } }) => {
        const person = this.#personAt(jid!);
        if (person === undefined) return [];
        const device = { tag: "device", attrs: { id: "0" } };
        const list = { tag: "device-list", attrs: {}, content: [device] };
        const content: BinaryNode[] = [
          { tag: "devices", attrs: {}, content: [list] },
          { tag: "lid", attrs: { val: person.lid } },
        ];
        return [{ tag: "user", attrs: { jid: jid! }, content }];
      }),
    };
  }

  #group(): BinaryNode {
    return {
      tag: "group",
      attrs: { id: GROUP, subject: "Team", creation: "1", s_t: "1", addressing_mode: "lid" },
      content: this.people.map(({ lid, jid }) => ({
        tag: "participant",
        attrs: { jid: lid, phone_number: jid },
      })),
    };
  }

  async #takeMessage({ noise, close }: Client, node: BinaryNode): Promise<void> {
    const { id, to } = node.attrs;
    const refusal = this.#refusals.shift();
    const ack = { class: "message", id: id!, from: to!, t: now() };
    if (refusal === "cut") return close();
    if (refusal !== undefined) {
      return noise.send({ tag: "ack", attrs: { ...ack, error: refusal } });
    }
    const participants = getBinaryNodeChildren(getBinaryNodeChild(node, "participants"), "to");
    let message: proto.Message | undefined;
    for (const { attrs, content } of participants) {
      const person = this.#personAt(attrs.jid!);
      if (person === undefined) continue;
      try {
        if (this.unreadable-- > 0) throw new Error("No session");
        message = await person.decrypt(LID, (content as BinaryNode[])[0]!);
      } catch {
        // The encryption library loses a session now and then, and phones know what to do.
        this.#askAgain(noise, person, node);
      }
    }
    const shared = getBinaryNodeChild(node, "enc");
    if (shared !== undefined) {
      message = undefined;
      for (const person of this.people) {
        // Whoever has no key of the group has asked for it above. The first who can read it is enough.
        message ??= await person.decryptFromGroup(to!, LID, shared).catch(() => undefined);
      }
    }
    noise.send({ tag: "ack", attrs: ack });
    if (message !== undefined) this.#show(id!, to!, message);
  }

  /** A phone that cannot read a message has it sent once more, in a new session. */
  #askAgain(noise: NoiseServer, person: FakePerson, { attrs: { id, to } }: BinaryNode): void {
    const inGroup = to!.endsWith("@g.us");
    const attrs = {
      ...{ id: id!, type: "retry", t: now(), from: inGroup ? to! : person.lid },
      ...inGroup && { participant: person.lid },
    };
    const content: BinaryNode[] = [
      { tag: "retry", attrs: { count: "1", id: id!, t: now(), v: "1" } },
      { tag: "registration", attrs: {}, content: encodeBigEndian(person.creds.registrationId) },
    ];
    noise.send({ tag: "receipt", attrs, content });
  }

  #show(id: string, to: string, message: proto.Message): void {
    const content = normalizeMessageContent(message)!;
    const { reactionMessage, protocolMessage } = content;
    if (reactionMessage) {
      return void this.reactions.set(reactionMessage.key!.id!, reactionMessage.text!);
    }
    if (protocolMessage) {
      const edited = this.shown.find((one) => one.id === protocolMessage.key!.id);
      if (protocolMessage.editedMessage) edited?.texts.push(textIn(protocolMessage.editedMessage));
      else if (edited !== undefined) edited.isDeleted = true;
      return;
    }
    if (this.shown.some((one) => one.id === id)) return;
    const chatId = to.endsWith("@g.us") ? to : this.#personAt(to)!.number;
    this.shown.push({ id, chatId, content, texts: [textIn(content)], isDeleted: false });
  }

  async #takeReceipt({ noise }: Client, node: BinaryNode): Promise<void> {
    const { id, type, to } = node.attrs;
    noise.send({ tag: "ack", attrs: { class: "receipt", id: id!, from: to! } });
    if (type === "retry") return await this.#push(id!, { count: "1" });
    if (type === "read") this.read.push(id!);
    if (this.#waiting.delete(id!)) this.#acknowledged.push(id!);
  }

  #newAttrs(type: string): Record<string, string> {
    return {
      id: `FAKE${String(++this.#count).padStart(6, "0")}${crypto.randomUUID().slice(0, 8)}`,
      type,
      t: now(),
    };
  }

  async #dispatch(written: Written): Promise<string> {
    const id = this.#last = written.attrs.id!;
    this.#waiting.add(id);
    this.#written.set(id, written);
    await this.#deliver(id);
    return id;
  }

  async #deliver(id: string): Promise<void> {
    if ([...this.#clients].some(({ isIn }) => isIn)) await this.#queue(() => this.#push(id));
  }

  /** What was encrypted once comes as it is, but where the phone of the sender is asked for it again. */
  async #push(id: string, more: Record<string, string> = {}): Promise<void> {
    const written = this.#written.get(id)!;
    const { from, attrs, message } = written;
    const device = this.#device!;
    if (more.count !== undefined) written.sealed = undefined;
    written.sealed ??= attrs.participant === undefined
      ? [await from.encrypt(device, message)]
      : await from.encryptForGroup(attrs.from!, device, message, more.count !== undefined);
    const node = { tag: "message", attrs: { ...attrs, ...more }, content: written.sealed };
    for (const { noise, isIn, given } of this.#clients) {
      if (!isIn || (more.count === undefined && given.has(id))) continue;
      given.add(id);
      noise.send(node);
    }
  }

  #toAll(node: BinaryNode): void {
    for (const { noise } of this.#clients) noise.send(node);
  }

  #wake(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }
}

function textIn({ conversation, extendedTextMessage, ...content }: proto.IMessage): string {
  const file = fileIn(content) as { caption?: string | null } | undefined;
  return conversation || extendedTextMessage?.text || file?.caption || "";
}

function fileIn({ imageMessage, videoMessage, audioMessage, documentMessage }: proto.IMessage) {
  return (imageMessage ?? videoMessage ?? audioMessage ?? documentMessage ?? undefined) as
    | (proto.Message.IDocumentMessage & { caption?: string | null })
    | undefined;
}

/** Of what has no name on WhatsApp. */
function nameOf({ mimetype }: { mimetype?: string | null }): string {
  return `file.${mimetype?.split("/")[1]?.split(";")[0]}`;
}

function now(ageMs = 0): string {
  return String(Math.floor((Date.now() - ageMs) / 1_000));
}
