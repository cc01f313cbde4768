/**
 * What a button carries, and the server gives back with a click: which approval it answers, and a code
 * that nobody has who does not have our key. The server shows it to no client.
 *
 * @module
 */

/** What a click says. */
export interface ApprovalAction {
  verb: "approve" | "deny";
  approvalId: string;
  /** 64 hexadecimal digits. */
  digest: string;
}

export class ActionContext {
  readonly #key: CryptoKey;

  private constructor(key: CryptoKey) {
    this.#key = key;
  }

  /** With a key of 32 bytes, in base64. */
  static async withKey(key: string): Promise<ActionContext> {
    const bytes = Uint8Array.fromBase64(key);
    const algorithm = { name: "HMAC", hash: "SHA-256" };
    return new ActionContext(
      await crypto.subtle.importKey("raw", bytes, algorithm, false, ["sign", "verify"]),
    );
  }

  /** A new key. */
  static newKey(): string {
    return crypto.getRandomValues(new Uint8Array(32)).toBase64();
  }

  /** Plain JSON for the button. */
  async seal(action: ApprovalAction): Promise<Record<string, string>> {
    const mac = await crypto.subtle.sign("HMAC", this.#key, bytesOf(action));
    return { ...action, mac: new Uint8Array(mac).toBase64() };
  }

  /** The action of a context that is one of ours; undefined for any other. Takes constant time. */
  async open(context: unknown): Promise<ApprovalAction | undefined> {
    if (typeof context !== "object" || context === null) return undefined;
    const { verb, approvalId, digest, mac } = context as Record<string, unknown>;
    if (verb !== "approve" && verb !== "deny") return undefined;
    if (typeof approvalId !== "string" || typeof digest !== "string" || typeof mac !== "string") {
      return undefined;
    }
    let said: Uint8Array<ArrayBuffer>;
    try {
      said = Uint8Array.fromBase64(mac);
    } catch {
      return undefined;
    }
    const action: ApprovalAction = { verb, approvalId, digest };
    // The platform compares them without stopping at the first difference.
    const isOurs = await crypto.subtle.verify("HMAC", this.#key, said, bytesOf(action));
    return isOurs ? action : undefined;
  }
}

function bytesOf({ verb, approvalId, digest }: ApprovalAction): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(JSON.stringify([verb, approvalId, digest]));
}
