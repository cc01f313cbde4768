/**
 * The files of one message on its way to the service: in a folder of their own below the channel's, within
 * what the service takes with a message, and gone when it has them.
 *
 * @module
 */

import { extname, join } from "@std/path";

/** What the service takes with one message (`HandledMessage.media`). */
export const MAX_INBOUND_FILES = 4;
/** Bytes of one file. */
export const MAX_INBOUND_FILE_BYTES = 8 * 1024 * 1024;
/** Bytes of all files of a message. */
export const MAX_INBOUND_TOTAL_BYTES = 24 * 1024 * 1024;

/** File systems take 255 bytes, of which a character may have four. */
const MAX_NAME_CHARS = 60;
const MAX_ENDING_CHARS = 12;

/** Nothing is on the disk before the first file. */
export class InboundFiles {
  readonly #dir: string;
  readonly #kept: { path: string; bytes: number }[] = [];
  #written = 0;

  /** For one message of the channel that has this folder. */
  constructor(stateDir: string) {
    this.#dir = join(mediaDir(stateDir), crypto.randomUUID());
  }

  /** Files that go with the message. */
  get paths(): string[] {
    return this.#kept.map(({ path }) => path);
  }

  /** Whether the message has as many files as are taken. */
  get isFull(): boolean {
    return this.#kept.length >= MAX_INBOUND_FILES;
  }

  /** Bytes that the next file may have. */
  get roomBytes(): number {
    const bytes = this.#kept.reduce((sum, one) => sum + one.bytes, 0);
    return Math.min(MAX_INBOUND_FILE_BYTES, MAX_INBOUND_TOTAL_BYTES - bytes);
  }

  /** Writes a file, for this user alone. Resolves with its path; its name is as near as is safe. */
  async write(name: string, bytes: Uint8Array): Promise<string> {
    // Two of the same name lie beside each other.
    const dir = join(this.#dir, String(this.#written += 1));
    await Deno.mkdir(dir, { recursive: true, mode: 0o700 });
    const path = join(dir, safeName(name));
    await Deno.writeFile(path, bytes, { mode: 0o600 });
    this.#kept.push({ path, bytes: bytes.length });
    return path;
  }

  /** What is in it goes as text, and the file itself not at all. */
  leaveOut(path: string): void {
    const index = this.#kept.findIndex((one) => one.path === path);
    if (index !== -1) this.#kept.splice(index, 1);
  }

  /** Removes them from the disk. Never rejects: the next start removes what is left. */
  async remove(): Promise<void> {
    await Deno.remove(this.#dir, { recursive: true }).catch(() => {});
  }
}

/** Removes what a process that was killed has left; before any message is taken. */
export async function removeLeftFiles(stateDir: string): Promise<void> {
  await Deno.remove(mediaDir(stateDir), { recursive: true }).catch((error) => {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  });
}

function mediaDir(stateDir: string): string {
  return join(stateDir, "media");
}

/** A name that leads into no other folder and hides nothing, with its ending kept. */
function safeName(name: string): string {
  const plain = name.normalize("NFC").toWellFormed().replace(/[^\p{L}\p{M}\p{N}._ -]/gu, "_")
    .replace(/^[. ]+|[. ]+$/g, "");
  if (plain === "") return "file";
  if (plain.length <= MAX_NAME_CHARS) return plain;
  const ending = extname(plain).slice(0, MAX_ENDING_CHARS);
  return plain.slice(0, MAX_NAME_CHARS - ending.length).toWellFormed() + ending;
}
