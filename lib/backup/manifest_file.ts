/**
 * The manifest of a backup that is being written, in a file: there may be millions of entries.
 *
 * @module
 */

import { type BackupHead, type ManifestFile, ManifestText } from "./manifest.ts";

/** Characters that wait to be written. */
const MAX_WAITING_CHARS = 256 * 1024;

/** Writes it. */
export class ManifestFileWriter {
  readonly #path: string;
  readonly #text = new ManifestText();
  #waiting: string;

  constructor(path: string, head: BackupHead) {
    this.#path = path;
    this.#waiting = this.#text.begin(head);
  }

  add(file: ManifestFile): void {
    this.#waiting += this.#text.file(file);
    if (this.#waiting.length >= MAX_WAITING_CHARS) this.#write();
  }

  /** The whole file, from its beginning. */
  end(): Deno.FsFile {
    this.#waiting += this.#text.end();
    this.#write();
    return Deno.openSync(this.#path);
  }

  #write(): void {
    Deno.writeTextFileSync(this.#path, this.#waiting, { append: true, mode: 0o600 });
    this.#waiting = "";
  }
}
