/**
 * The server's half of Noise_XX_25519_AESGCM_SHA256 as WhatsApp speaks it over a WebSocket, written by the Noise
 * Protocol Framework, 5 and 7.5: the client library has the other half.
 */

import { Buffer } from "node:buffer";
import {
  aesDecryptGCM,
  aesEncryptGCM,
  type BinaryNode,
  Curve,
  decodeBinaryNode,
  encodeBinaryNode,
  hkdf,
  NOISE_MODE,
  NOISE_WA_HEADER,
  proto,
  sha256,
} from "baileys";

/** Whose signature the client is told to trust; one for all servers of a process. */
const ROOT = Curve.generateKeyPair();
export const ROOT_KEY = Buffer.from(ROOT.public).toString("hex");

const STATIC = Curve.generateKeyPair();
const EMPTY = Buffer.alloc(0);

function certificates(): Uint8Array {
  const { Details } = proto.CertChain.NoiseCertificate;
  const middle = Curve.generateKeyPair();
  const signed = (key: Uint8Array, signer: Uint8Array) => {
    const details = Details.encode({ serial: 1, issuerSerial: 0, key }).finish();
    return { details, signature: Curve.sign(signer, details) };
  };
  return proto.CertChain.encode({
    leaf: signed(STATIC.public, middle.private),
    intermediate: signed(middle.public, ROOT.private),
  }).finish();
}

const CERTIFICATES = certificates();

/** One connection. */
export class NoiseServer {
  readonly #send: (bytes: Uint8Array) => void;
  readonly #onLogin: (payload: proto.ClientPayload) => void;
  readonly #onNode: (node: BinaryNode) => void;
  readonly #ephemeral = Curve.generateKeyPair();
  #hash: Buffer = Buffer.from(NOISE_MODE);
  #salt: Buffer = this.#hash;
  #key: Buffer = this.#hash;
  #nonce = 0;
  #transport: { read: Buffer; write: Buffer; readCount: number; writeCount: number } | undefined;
  #bytes: Buffer = EMPTY;
  #hasIntro = false;
  #isHello = true;
  #reading: Promise<void> = Promise.resolve();

  constructor({ send, onLogin, onNode }: {
    send: (bytes: Uint8Array) => void;
    onLogin: (payload: proto.ClientPayload) => void;
    onNode: (node: BinaryNode) => void;
  }) {
    this.#send = send;
    this.#onLogin = onLogin;
    this.#onNode = onNode;
    this.#mixHash(NOISE_WA_HEADER);
  }

  send(node: BinaryNode): void {
    const { write, writeCount } = this.#transport!;
    this.#transport!.writeCount++;
    this.#frame(aesEncryptGCM(encodeBinaryNode(node), write, nonceOf(writeCount), EMPTY));
  }

  take(bytes: Uint8Array): void {
    this.#bytes = Buffer.concat([this.#bytes, bytes]);
    if (!this.#hasIntro && this.#bytes.length >= NOISE_WA_HEADER.length) {
      this.#bytes = this.#bytes.subarray(NOISE_WA_HEADER.length);
      this.#hasIntro = true;
    }
    while (this.#bytes.length >= 3) {
      const end = 3 + this.#bytes.readUIntBE(0, 3);
      if (this.#bytes.length < end) return;
      const frame = this.#bytes.subarray(3, end);
      this.#bytes = this.#bytes.subarray(end);
      this.#take(frame);
    }
  }

  #take(frame: Buffer): void {
    if (this.#transport !== undefined) {
      const { read, readCount } = this.#transport;
      this.#transport.readCount++;
      const plain = aesDecryptGCM(frame, read, nonceOf(readCount), EMPTY);
      this.#reading = this.#reading.then(async () => this.#onNode(await decodeBinaryNode(plain)));
      return;
    }
    const { clientHello, clientFinish } = proto.HandshakeMessage.decode(frame);
    if (this.#isHello) this.#hello(clientHello!.ephemeral!);
    else this.#finish(clientFinish!.static!, clientFinish!.payload!);
    this.#isHello = false;
  }

  #hello(theirs: Uint8Array): void {
    this.#mixHash(theirs);
    this.#mixHash(this.#ephemeral.public);
    this.#mixKey(Curve.sharedKey(this.#ephemeral.private, theirs));
    const encrypted = this.#encrypt(STATIC.public);
    this.#mixKey(Curve.sharedKey(STATIC.private, theirs));
    const payload = this.#encrypt(CERTIFICATES);
    const serverHello = { ephemeral: this.#ephemeral.public, static: encrypted, payload };
    this.#frame(proto.HandshakeMessage.encode({ serverHello }).finish());
  }

  #finish(encrypted: Uint8Array, payload: Uint8Array): void {
    this.#mixKey(Curve.sharedKey(this.#ephemeral.private, this.#decrypt(encrypted)));
    const login = proto.ClientPayload.decode(this.#decrypt(payload));
    const [read, write] = this.#split(EMPTY);
    this.#transport = { read, write, readCount: 0, writeCount: 0 };
    this.#onLogin(login);
  }

  #frame(bytes: Uint8Array): void {
    const head = Buffer.alloc(3);
    head.writeUIntBE(bytes.length, 0, 3);
    this.#send(Buffer.concat([head, bytes]));
  }

  #mixHash(data: Uint8Array): void {
    this.#hash = sha256(Buffer.concat([this.#hash, data]));
  }

  #mixKey(secret: Uint8Array): void {
    const [salt, key] = this.#split(secret);
    this.#salt = salt;
    this.#key = key;
    this.#nonce = 0;
  }

  #split(secret: Uint8Array): [Buffer, Buffer] {
    const both = Buffer.from(hkdf(Buffer.from(secret), 64, { salt: this.#salt, info: "" }));
    return [both.subarray(0, 32), both.subarray(32)];
  }

  #encrypt(plain: Uint8Array): Buffer {
    const sealed = aesEncryptGCM(plain, this.#key, nonceOf(this.#nonce++), this.#hash);
    this.#mixHash(sealed);
    return sealed;
  }

  #decrypt(sealed: Uint8Array): Buffer {
    const plain = aesDecryptGCM(sealed, this.#key, nonceOf(this.#nonce++), this.#hash);
    this.#mixHash(sealed);
    return plain;
  }
}

function nonceOf(count: number): Buffer {
  const nonce = Buffer.alloc(12);
  nonce.writeUInt32BE(count, 8);
  return nonce;
}
