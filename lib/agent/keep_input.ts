/**
 * Puts the files of a message into the media folder, on the way to its being accepted.
 *
 * @module
 */

import type { HeldFile, MediaStore } from "../media/types.ts";
import type { InputPart, UserPart } from "../contract/messages.ts";

/** An input whose files stay until they are released. */
export interface KeptInput {
  parts: UserPart[];
  /** To be called when the turn is on record, or will not be. */
  release(): Promise<void>;
}

/** Keeps the files of an input. When one cannot be kept, none is. */
export async function keepInput(
  input: readonly InputPart[],
  media: Pick<MediaStore, "hold">,
): Promise<KeptInput> {
  const held: HeldFile[] = [];
  const release = async () => void await Promise.all(held.map((file) => file.release()));
  const keep = async (bytes: Uint8Array) => {
    const file = await media.hold(bytes);
    held.push(file);
    return { sha256: file.sha256, bytes: file.bytes };
  };
  const parts: UserPart[] = [];
  try {
    for (const part of input) {
      if (part.type === "text") {
        parts.push(part);
      } else {
        const { bytes, ...rest } = part;
        parts.push({ ...rest, file: await keep(bytes) });
      }
    }
  } catch (error) {
    await release();
    throw error;
  }
  return { parts, release };
}
