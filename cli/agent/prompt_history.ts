/**
 * What was typed into the chat before, in a file of mode 0600: one JSON string a line, oldest first.
 *
 * @module
 */

/** Most entries that are kept. */
export const MAX_ENTRIES = 500;

/** Longest entry that is remembered, characters. */
export const MAX_ENTRY_CHARS = 4_000;

/** Size at which the file is written anew with its last entries, bytes. */
const MAX_FILE_BYTES = 512 * 1024;

/** The remembered lines; a file that cannot be read or written only means less memory. */
export class PromptHistory {
  readonly #file: string;
  readonly #entries: string[];

  private constructor(file: string, entries: string[]) {
    this.#file = file;
    this.#entries = entries;
  }

  /** Reads the file; without one, or with a damaged line, there is that much less. */
  static async load(file: string): Promise<PromptHistory> {
    let text = "";
    try {
      const { size } = await Deno.stat(file);
      // Another program's huge file is not read; the next entry replaces it.
      if (size <= 4 * MAX_FILE_BYTES) text = await Deno.readTextFile(file);
    } catch {
      // The first chat of this home.
    }
    const entries = text.split("\n").flatMap(parseEntry);
    return new PromptHistory(file, entries.slice(-MAX_ENTRIES));
  }

  /** Oldest first. */
  get entries(): readonly string[] {
    return this.#entries;
  }

  /**
   * Remembers what was typed. Not remembered, as in a shell: what begins with a space, and what is
   * the same as the last entry.
   */
  async add(entry: string): Promise<void> {
    const skip = entry.trim() === "" || entry.startsWith(" ") || entry.length > MAX_ENTRY_CHARS ||
      entry === this.#entries.at(-1);
    if (skip) return;
    this.#entries.push(entry);
    if (this.#entries.length > MAX_ENTRIES) this.#entries.shift();
    try {
      await this.#append(JSON.stringify(entry) + "\n");
    } catch {
      // A full or read-only disk does not end a chat.
    }
  }

  async #append(line: string): Promise<void> {
    const size = await Deno.stat(this.#file).then((stat) => stat.size, () => 0);
    if (size + line.length <= MAX_FILE_BYTES) {
      // Appending is atomic enough for two chats at once.
      await Deno.writeTextFile(this.#file, line, { append: true, mode: 0o600 });
      return;
    }
    const temporary = `${this.#file}.${crypto.randomUUID()}.tmp`;
    const text = this.#entries.map((entry) => JSON.stringify(entry) + "\n").join("");
    await Deno.writeTextFile(temporary, text, { mode: 0o600, createNew: true });
    await Deno.rename(temporary, this.#file);
  }
}

function parseEntry(line: string): string[] {
  try {
    const entry: unknown = JSON.parse(line);
    return typeof entry === "string" && entry.length <= MAX_ENTRY_CHARS ? [entry] : [];
  } catch {
    return [];
  }
}
