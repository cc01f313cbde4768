/**
 * The media folder: files that came with messages, each once, named by the hash of its bytes.
 *
 * A file stays while a session on record refers to it (`Journal.hasFile`) or somebody holds it. What
 * a crash left without either goes at the next start.
 *
 * @module
 */

import type { FileRef } from "../contract/messages.ts";
import type { RetentionStore } from "../contract/retention.ts";

/** A file that stays at least until it is released. */
export interface HeldFile extends FileRef {
  /** Lets it go; it is removed unless somebody else holds it or a session refers to it. */
  release(): Promise<void>;
}

/** The folder. */
export interface MediaStore {
  /** Keeps the bytes on the disk (synced) unless they are there already. */
  hold(bytes: Uint8Array): Promise<HeldFile>;
  /** Undefined when the file is gone or its bytes are not those of its hash any more. */
  read(sha256: string): Promise<Uint8Array | undefined>;
  /** Removes those of the files that nobody refers to or holds. */
  drop(sha256s: readonly string[]): Promise<void>;
  /** Removes every file that nobody refers to; for the start. Returns how many. */
  sweep(): Promise<number>;
  /**
   * Files by age and size: by when they last came with a message. Sessions may still refer to what is
   * removed; it then reads as gone.
   */
  retention: RetentionStore;
}
