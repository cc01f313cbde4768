/** The phone of the account: links devices, by a QR code that it scans or a code that is typed on it. */

import { Buffer } from "node:buffer";
import {
  aesDecryptCTR,
  aesDecryptGCM,
  aesEncryptCTR,
  type BinaryNode,
  Curve,
  derivePairingCodeKey,
  getBinaryNodeChild,
  getBinaryNodeChildBuffer,
  hkdf,
  hmacSign,
  proto,
  WA_ADV_ACCOUNT_SIG_PREFIX,
} from "baileys";
import { randomBytes } from "node:crypto";

/** What a device that asks to be linked has told. */
export interface Candidate {
  identity: Uint8Array;
  /** In base64, from the QR code or agreed upon. */
  secret: string;
}

export class FakePhone {
  readonly #identity = Curve.generateKeyPair();
  readonly #ephemeral = Curve.generateKeyPair();
  #companion: { wrapped: Buffer } | undefined;

  /** Signs a device: what it keeps of the account. */
  sign(identity: Uint8Array): proto.IADVSignedDeviceIdentity {
    const details = proto.ADVDeviceIdentity.encode({ rawId: 1, timestamp: 1, keyIndex: 1 })
      .finish();
    const signed = Buffer.concat([WA_ADV_ACCOUNT_SIG_PREFIX, details, identity]);
    return {
      details,
      accountSignatureKey: this.#identity.public,
      accountSignature: Curve.sign(this.#identity.private, signed),
    };
  }

  /** What a device is told that is linked now. */
  deviceIdentity({ identity, secret }: Candidate): Uint8Array {
    const details = proto.ADVSignedDeviceIdentity.encode(this.sign(identity)).finish();
    const hmac = hmacSign(Buffer.from(details), Buffer.from(secret, "base64"));
    return proto.ADVSignedDeviceIdentityHMAC.encode({ details, hmac }).finish();
  }

  /** A QR code is scanned. Throws for one that is none of WhatsApp's. */
  scan(qr: string): Candidate {
    const [, , identity, secret] = /#([^,]+),([^,]+),([^,]+),([^,]+),/.exec(qr)!.slice(1);
    return { identity: Buffer.from(identity ?? "", "base64"), secret: secret! };
  }

  /** Somebody wants to link a device by a code, and shows that. */
  asked(request: BinaryNode): void {
    const wrapped = getBinaryNodeChildBuffer(
      request,
      "link_code_pairing_wrapped_companion_ephemeral_pub",
    );
    this.#companion = { wrapped: Buffer.from(wrapped!) };
  }

  /** The code is typed: what the device is told. */
  async type(code: string): Promise<BinaryNode> {
    const [salt, iv] = [randomBytes(32), randomBytes(16)];
    const key = await derivePairingCodeKey(code.replace("-", ""), salt);
    const wrapped = Buffer.concat([salt, iv, aesEncryptCTR(this.#ephemeral.public, key, iv)]);
    const part = (tag: string, content: Uint8Array): BinaryNode => ({ tag, attrs: {}, content });
    return {
      tag: "link_code_companion_reg",
      attrs: { stage: "primary_hello" },
      content: [
        part("link_code_pairing_ref", Buffer.from("ref")),
        part("link_code_pairing_wrapped_primary_ephemeral_pub", wrapped),
        part("primary_identity_pub", Buffer.from(this.#identity.public)),
      ],
    };
  }

  /** The device has answered: whoever knows the code has the same secret. */
  async agree(code: string, answer: BinaryNode): Promise<Candidate> {
    const { wrapped } = this.#companion!;
    const key = await derivePairingCodeKey(code.replace("-", ""), wrapped.subarray(0, 32));
    const theirs = aesDecryptCTR(wrapped.subarray(48), key, wrapped.subarray(32, 48));
    const shared = Curve.sharedKey(this.#ephemeral.private, theirs);
    const node = getBinaryNodeChild(answer, "link_code_companion_reg")!;
    const bundle = Buffer.from(
      getBinaryNodeChildBuffer(node, "link_code_pairing_wrapped_key_bundle")!,
    );
    const bundleKey = Buffer.from(hkdf(shared, 32, {
      salt: bundle.subarray(0, 32),
      info: "link_code_pairing_key_bundle_encryption_key",
    }));
    const opened = aesDecryptGCM(
      bundle.subarray(44),
      bundleKey,
      bundle.subarray(32, 44),
      Buffer.alloc(0),
    );
    const [identity, random] = [opened.subarray(0, 32), opened.subarray(64)];
    const agreed = Curve.sharedKey(this.#identity.private, identity);
    const secret = hkdf(Buffer.concat([shared, agreed, random]), 32, { info: "adv_secret" });
    return { identity, secret: Buffer.from(secret).toString("base64") };
  }
}
