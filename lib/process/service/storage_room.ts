/**
 * Whether there is room on the disk for new work, as the authority finds it.
 *
 * @module
 */

import { abortable } from "../../base/abortable.ts";
import { ServiceError } from "../../base/errors.ts";

/** How long whoever is refused may wait before trying again. */
const RETRY_AFTER_S = 30;

/** The room, and those who wait for it. */
export class StorageRoom {
  #isFull = false;
  #freed = Promise.withResolvers<void>();

  /** Takes in a check of the storage. */
  update(check: { ok: boolean } | undefined): void {
    this.#isFull = check?.ok === false;
    if (this.#isFull) return;
    this.#freed.resolve();
    this.#freed = Promise.withResolvers<void>();
  }

  /** Throws `storage_full` when there is no room for new work. */
  check(): void {
    if (!this.#isFull) return;
    // Where, and how much, is for operators: GET /ready has it.
    const message =
      "Not enough free disk space for new work (storage.minFreeMiB); nothing was stored";
    throw new ServiceError("storage_full", message, { retryAfterS: RETRY_AFTER_S });
  }

  /** Resolves when there is room. Rejects with the signal's reason. */
  async free(signal: AbortSignal): Promise<void> {
    while (this.#isFull) await abortable(this.#freed.promise, signal);
  }
}
