/**
 * Tells the people of an encrypted room once that nothing is read there. That one notice is in clear
 * text: it holds nothing of theirs, and without it the room would stay silent for no reason they can see.
 *
 * @module
 */

import type { Memory } from "../../../lib/channel/platform/memory.ts";
import type { Log } from "../../../lib/base/log.ts";
import { readFault } from "../api/faults.ts";
import type { MatrixApi } from "../api/matrix_api.ts";
import type { ForeignWriters } from "../inbound/foreign_writers.ts";
import { textContent } from "../text/message_content.ts";
import type { Words } from "../words.ts";
import type { Transactions } from "./transactions.ts";

/** What notices are sent with. */
export interface EncryptionNotesDeps {
  api: Pick<MatrixApi, "send">;
  foreign: ForeignWriters;
  transactions: Transactions;
  memory: Pick<Memory, "get" | "set">;
  words: Words;
  log: Pick<Log, "warning">;
}

export class EncryptionNotes {
  readonly #deps: EncryptionNotesDeps;
  readonly #telling = new Map<string, Promise<void>>();

  constructor(deps: EncryptionNotesDeps) {
    this.#deps = deps;
  }

  /** Does not wait; a notice that could not be sent goes out with the next message there. */
  tell(roomId: string): void {
    if (this.#telling.has(roomId) || this.#deps.memory.get("told_encrypted", roomId)) return;
    const telling = this.#tell(roomId).finally(() => this.#telling.delete(roomId));
    this.#telling.set(roomId, telling);
  }

  /** Resolves when nothing is being said any more. */
  async settled(): Promise<void> {
    await Promise.all(this.#telling.values());
  }

  async #tell(roomId: string): Promise<void> {
    const { api, foreign, transactions, memory, words, log } = this.#deps;
    log.warning("A room is encrypted: nothing that is written there can be read", {
      room: roomId,
      help: "invite the bot to a room without encryption",
    });
    try {
      const txnId = await transactions.idOf("encrypted", roomId);
      const event = textContent(words("encryptedRoom"), "m.notice");
      await foreign.sending(txnId, () => api.send(roomId, "m.room.message", event, txnId));
    } catch (error) {
      const fault = readFault(error);
      if (fault.kind !== "refused") return;
    }
    memory.set("told_encrypted", roomId, true);
  }
}
