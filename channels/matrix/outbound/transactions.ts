/**
 * Ids of sends. A homeserver takes an event with the same one from the same session once, so that whatever
 * is repeated, after a crash too, is there once (client-server API, "Transaction identifiers").
 *
 * @module
 */

import type { Memory } from "../../../lib/channel/platform/memory.ts";

export class Transactions {
  /** Of this installation: two that share an account must never have the same ids. */
  readonly #tag: string;

  constructor(memory: Pick<Memory, "get" | "set">) {
    const kept = memory.get<string>("install", "tag");
    this.#tag = kept ?? crypto.randomUUID().slice(0, 8);
    if (kept === undefined) memory.set("install", "tag", this.#tag);
  }

  /** The same for the same names, and for no others. */
  async idOf(...names: readonly string[]): Promise<string> {
    const bytes = new TextEncoder().encode(JSON.stringify(names));
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
    return `${this.#tag}.${digest.slice(0, 16).toHex()}`;
  }

  /** One that was never used. */
  newId(): string {
    return `${this.#tag}.${crypto.randomUUID()}`;
  }
}
