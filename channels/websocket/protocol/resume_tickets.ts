/**
 * Tickets by which a later connection goes on in a chat for an earlier one. A token of scope chat may
 * receive only what its own connection could: the ticket, which nobody else was told, shows that the two
 * belong together. It holds for one chat as it is now and for one token, and as long as this process.
 *
 * @module
 */

import { createHmac, timingSafeEqual } from "node:crypto";
import type { ChatPlace } from "../../../lib/contract/chats.ts";

/** What a ticket is for. */
export interface Resumable extends ChatPlace {
  /** Of the chat now: another one, and the ticket no longer holds. */
  epoch: string;
  /** Of the token that the connection came in by. */
  tokenId?: string;
}

const KEY_BYTES = 32;

export class ResumeTickets {
  readonly #key = crypto.getRandomValues(new Uint8Array(KEY_BYTES));

  /** For what comes after a number. */
  issue(resumable: Resumable, afterSeq: number): string {
    return `${afterSeq}.${this.#mac(resumable, afterSeq)}`;
  }

  /** The number after which it lets its holder receive; undefined for one that doesn't hold. */
  read(ticket: string, resumable: Resumable): number | undefined {
    const [, seq, mac] = /^(0|[1-9]\d{0,14})\.([\w-]{43})$/.exec(ticket) ?? [];
    if (seq === undefined) return undefined;
    const bytes = (text: string) => new TextEncoder().encode(text);
    const isOwn = timingSafeEqual(bytes(mac!), bytes(this.#mac(resumable, Number(seq))));
    return isOwn ? Number(seq) : undefined;
  }

  #mac({ chatId, workspaceKey, epoch, tokenId }: Resumable, afterSeq: number): string {
    return createHmac("sha256", this.#key)
      .update(JSON.stringify([chatId, workspaceKey ?? "", epoch, tokenId ?? "", afterSeq]))
      .digest("base64url");
  }
}
