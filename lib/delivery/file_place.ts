/**
 * Where a channel finds the files of a message while it sends them.
 *
 * @module
 */

import type { OutFile } from "../contract/messages.ts";

/** Files that a channel may read. */
export interface PlacedFiles {
  /** In the order of the files. */
  paths: readonly string[];
  /** Takes them away again. Never rejects. */
  remove(): Promise<void>;
}

/**
 * Puts files where the channel of that runtime name may read them, under their own names. Rejects with
 * `PermanentDeliveryError` for a file that is gone.
 */
export type PlaceFiles = (runtimeName: string, files: readonly OutFile[]) => Promise<PlacedFiles>;

/** Leaves them where they are, for channels that may read everything. */
export const filesAsTheyAre: PlaceFiles = (_runtimeName, files) =>
  Promise.resolve({ paths: files.map(({ path }) => path), remove: () => Promise.resolve() });
