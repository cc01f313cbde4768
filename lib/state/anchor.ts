/**
 * What is known of a file besides itself: the counter that it had at least. It stands in the key's
 * folder and is written after the file, so that a file that is gone or older is known as damaged.
 *
 * @module
 */

import { writeFileAtomic } from "../base/atomic_write.ts";
import { type Damaged, isDamaged } from "./damaged.ts";
import { openText, sealText } from "./sealed_text.ts";
import { readBounded } from "./state_disk.ts";
import type { Seal } from "./state_key.ts";

const MAX_ANCHOR_BYTES = 1_000;

/** The text of an anchor; undefined when there is none. */
export function readAnchor(path: string): { text: string } | Damaged | undefined {
  return readBounded(path, MAX_ANCHOR_BYTES);
}

/** The counter that an anchor's text stands for, 0 without one; undefined when it is damaged. */
export function anchorCounter(
  anchor: { text: string } | Damaged | undefined,
  name: string,
  seal: Seal,
): number | undefined {
  if (anchor === undefined) return 0;
  if (isDamaged(anchor)) return undefined;
  const opened = openText(anchor.text, `${name}.anchor`, seal);
  return isDamaged(opened) ? undefined : opened.counter;
}

/** Writes an anchor. `beforeReplace` runs when its text is on the disk and not yet in its place. */
export async function writeAnchor(
  { path, name, counter, seal, beforeReplace, write }: {
    path: string;
    name: string;
    counter: number;
    seal: Seal;
    beforeReplace?: () => Promise<void>;
    write: typeof writeFileAtomic;
  },
): Promise<void> {
  const text = sealText({ name: `${name}.anchor`, counter, body: {} }, seal);
  await write(path, text, { mode: 0o600, beforeReplace });
}
