/**
 * What a button carries, and the server gives back with a click: which approval it answers, and a code
 * that nobody has who does not have our key. The server shows it to no client.
 *
 * @module
 */

import { createHmac, timingSafeEqual } from "node:crypto";

/** What a click says. */
export interface ApprovalAction {
  verb: "approve" | "deny";
  approvalId: string;
  /** 64 hexadecimal digits. */
  digest: string;
}

export class ActionContext {
  readonly #key: Uint8Array;

  /** With a key of 32 bytes, in base64. */
  constructor(key: string) {
    this.#key = Uint8Array.fromBase64(key);
  }

  /** A new key. */
  static newKey(): string {
    return crypto.getRandomValues(new Uint8Array(32)).toBase64();
  }

  /** Plain JSON for the button. */
  seal(action: ApprovalAction): Record<string, string> {
    return { ...action, mac: this.#macOf(action) };
  }

  /** The action of a context that is one of ours; undefined for any other. Takes constant time. */
  open(context: unknown): ApprovalAction | undefined {
    const { verb, approvalId, digest, mac } = Object(context) as Record<string, unknown>;
    if (verb !== "approve" && verb !== "deny") return undefined;
    if (typeof approvalId !== "string" || typeof digest !== "string" || typeof mac !== "string") {
      return undefined;
    }
    const action: ApprovalAction = { verb, approvalId, digest };
    const [said, right] = [mac, this.#macOf(action)].map((text) => new TextEncoder().encode(text));
    return said!.length === right!.length && timingSafeEqual(said!, right!) ? action : undefined;
  }

  #macOf({ verb, approvalId, digest }: ApprovalAction): string {
    const text = JSON.stringify([verb, approvalId, digest]);
    return createHmac("sha256", this.#key).update(text).digest("base64");
  }
}
