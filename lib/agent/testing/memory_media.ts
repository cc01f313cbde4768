/**
 * A media folder in memory, which counts who holds what.
 *
 * @module
 */

import { createHash } from "node:crypto";
import type { HeldFile, MediaStore } from "../../media/types.ts";

/** The folder, and what is in it. */
export interface MemoryMedia extends Pick<MediaStore, "hold" | "read"> {
  readonly files: Map<string, Uint8Array>;
  /** Files that somebody holds. */
  readonly held: readonly string[];
}

/** An empty folder. Nothing is ever removed but by the test. */
export function memoryMedia(): MemoryMedia {
  const files = new Map<string, Uint8Array>();
  const held: string[] = [];
  return {
    files,
    held,
    hold(bytes) {
      const sha256 = createHash("sha256").update(bytes).digest("hex");
      files.set(sha256, bytes);
      held.push(sha256);
      const file: HeldFile = {
        sha256,
        bytes: bytes.length,
        release() {
          held.splice(held.indexOf(sha256), 1);
          return Promise.resolve();
        },
      };
      return Promise.resolve(file);
    },
    read: (sha256) => Promise.resolve(files.get(sha256)),
  };
}
