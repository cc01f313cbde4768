/** A phone of somebody, with keys of its own: what it sends to the linked device only that device can read. */

import {
  addTransactionCapability,
  type AuthenticationCreds,
  type BinaryNode,
  DEFAULT_CONNECTION_CONFIG,
  encodeBigEndian,
  encodeWAMessage,
  generateSignalPubKey,
  initAuthCreds,
  proto,
  type SignalDataSet,
  type SignalKeyStore,
  unpadRandomMax16,
  xmppSignedPreKey,
} from "baileys";

/** Public keys of a device, as the server hands them out. */
export interface DeviceKeys {
  jid: string;
  registrationId: number;
  identity: Uint8Array;
  signedPreKey: { keyId: number; publicKey: Uint8Array; signature: Uint8Array };
}

const SILENT = {
  ...{ level: "silent", child: () => SILENT },
  ...{ trace() {}, debug() {}, info() {}, warn() {}, error() {} },
};

export class FakePerson {
  readonly number: string;
  readonly name: string;
  readonly creds: AuthenticationCreds = initAuthCreds();
  readonly #signal;
  /** Devices with a session, and groups whose key the device has. */
  readonly #known = new Set<string>();

  constructor(number: string, name: string) {
    this.number = number;
    this.name = name;
    const keys = addTransactionCapability(memoryKeys(), SILENT, {
      maxCommitRetries: 1,
      delayBetweenTriesMs: 0,
    });
    const auth = { creds: this.creds, keys };
    this.#signal = DEFAULT_CONNECTION_CONFIG.makeSignalRepository(auth, SILENT);
  }

  /** The one by which WhatsApp names people since it hides their numbers. */
  get lid(): string {
    return `9${this.number}@lid`;
  }

  get jid(): string {
    return `${this.number}@s.whatsapp.net`;
  }

  /** A message for a device. */
  async encrypt(to: DeviceKeys, message: proto.IMessage): Promise<BinaryNode> {
    await this.#meet(to);
    const data = encodeWAMessage(message);
    const { type, ciphertext } = await this.#signal.encryptMessage({ jid: to.jid, data });
    return { tag: "enc", attrs: { v: "2", type }, content: ciphertext };
  }

  /** A message for a group; with the first, and where it is asked for, the key that the device needs. */
  async encryptForGroup(
    group: string,
    to: DeviceKeys,
    message: proto.IMessage,
    needsKey: boolean,
  ): Promise<BinaryNode[]> {
    const data = encodeWAMessage(message);
    const { ciphertext, senderKeyDistributionMessage: key } = await this.#signal
      .encryptGroupMessage({
        ...{ group, meId: this.lid, data },
      });
    const senderKeyDistributionMessage = {
      groupId: group,
      axolotlSenderKeyDistributionMessage: key,
    };
    const hasKey = this.#known.has(group) && !needsKey;
    this.#known.add(group);
    return [
      ...hasKey ? [] : [await this.encrypt(to, { senderKeyDistributionMessage })],
      { tag: "enc", attrs: { v: "2", type: "skmsg" }, content: ciphertext },
    ];
  }

  async decrypt(from: string, { attrs, content }: BinaryNode): Promise<proto.Message> {
    const type = attrs.type as "msg" | "pkmsg";
    const ciphertext = content as Uint8Array;
    const padded = await this.#signal.decryptMessage({ jid: from, type, ciphertext });
    this.#known.add(from);
    const message = proto.Message.decode(unpadRandomMax16(padded));
    const item = message.senderKeyDistributionMessage;
    if (item) await this.#signal.processSenderKeyDistributionMessage({ authorJid: from, item });
    return message;
  }

  async decryptFromGroup(
    group: string,
    from: string,
    { content }: BinaryNode,
  ): Promise<proto.Message> {
    const msg = content as Uint8Array;
    const padded = await this.#signal.decryptGroupMessage({ group, authorJid: from, msg });
    return proto.Message.decode(unpadRandomMax16(padded));
  }

  /** What the server answers to somebody who wants to write to them. */
  bundle(jid: string): BinaryNode {
    const { registrationId, signedIdentityKey, signedPreKey } = this.creds;
    return {
      tag: "user",
      attrs: { jid },
      content: [
        { tag: "registration", attrs: {}, content: encodeBigEndian(registrationId) },
        { tag: "type", attrs: {}, content: new Uint8Array([5]) },
        { tag: "identity", attrs: {}, content: signedIdentityKey.public },
        xmppSignedPreKey(signedPreKey),
      ],
    };
  }

  close(): void {
    this.#signal.close?.();
  }

  async #meet({ jid, registrationId, identity, signedPreKey }: DeviceKeys): Promise<void> {
    if (this.#known.has(jid)) return;
    this.#known.add(jid);
    await this.#signal.injectE2ESession({
      jid,
      session: {
        registrationId,
        identityKey: generateSignalPubKey(identity),
        signedPreKey: { ...signedPreKey, publicKey: generateSignalPubKey(signedPreKey.publicKey) },
      },
    });
  }
}

function memoryKeys(): SignalKeyStore {
  const kept = new Map<string, unknown>();
  return {
    get: (kind, ids) =>
      Object.fromEntries(ids.flatMap((id) => {
        const value = kept.get(`${kind} ${id}`);
        return value === undefined ? [] : [[id, value]];
      })) as never,
    set(data: SignalDataSet) {
      for (const [kind, values] of Object.entries(data)) {
        for (const [id, value] of Object.entries(values ?? {})) {
          if (value === null) kept.delete(`${kind} ${id}`);
          else kept.set(`${kind} ${id}`, value);
        }
      }
    },
  };
}
