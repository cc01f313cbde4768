/**
 * A terminal with a block at its bottom that is redrawn, such as the edited line, and output that
 * scrolls by above it. Whatever is printed goes above the block, so nothing lands in the edited line.
 *
 * @module
 */

import type { OutputStream } from "../output.ts";
import { type Line, paint } from "./look.ts";
import { lineWidth } from "./wrap.ts";

/** The terminal itself. */
export interface TerminalPort {
  /** Throws when the terminal is gone. */
  write(text: string): void;
  size(): { columns: number; rows: number };
  color: boolean;
}

/** What stands at the bottom. */
export interface Block {
  lines: readonly Line[];
  /** Where the cursor is, in the lines; by default at the end. */
  cursor?: { row: number; column: number };
}

/** Bytes of output that wait at most before they are written. */
const MAX_WAITING_CHARS = 256 * 1024;

const FRAME_MS = 16;

// Kept back by the terminal until it is whole, where it knows that (mode 2026).
const BEGIN = "\x1b[?2026h\x1b[?25l";
const END = "\x1b[?25h\x1b[?2026l";

/** Columns and rows of this process's terminal. */
export function terminalSize(): { columns: number; rows: number } {
  try {
    const { columns, rows } = Deno.consoleSize();
    // A terminal that does not know says 0.
    return { columns: columns || 80, rows: rows || 24 };
  } catch {
    return { columns: 80, rows: 24 };
  }
}

/** Where the line goes that is edited: standard error, so that standard output has the answers alone. */
export function processTerminal(): TerminalPort {
  const color = (Deno.env.get("NO_COLOR") ?? "") === "";
  return { color, write: writeTerminal, size: terminalSize };
}

const RETRY_MS = 5;

function writeTerminal(text: string): void {
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.length;) {
    try {
      at += Deno.stderr.writeSync(bytes.subarray(at));
    } catch (error) {
      if (!(error instanceof Deno.errors.WouldBlock)) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS);
    }
  }
}

export class Screen {
  readonly #port: TerminalPort;
  readonly #block: () => Block;
  readonly #onGone: () => void;
  #waiting = "";
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Columns of the rows that are drawn, and where the cursor is in them. */
  #drawn: { widths: number[]; row: number } | undefined;
  #isOpen = true;

  /** `block` is asked whenever it is drawn; `onGone` is called when there is no terminal any more. */
  constructor(port: TerminalPort, block: () => Block, onGone: () => void) {
    this.#port = port;
    this.#block = block;
    this.#onGone = onGone;
  }

  get width(): number {
    // The last column stays free: terminals differ in what they do after it.
    return Math.max(2, this.#port.size().columns - 1);
  }

  get height(): number {
    return Math.max(2, this.#port.size().rows);
  }

  /** Prints lines above the block. */
  print(...lines: Line[]): void {
    this.#add(lines.map((line) => paint(line, this.#port.color) + "\r\n").join(""));
  }

  /** The block has changed. */
  update(): void {
    this.#timer ??= this.#isOpen ? setTimeout(() => this.flush(), FRAME_MS) : undefined;
  }

  /** Draws now. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (!this.#isOpen) return;
    const text = this.#waiting;
    this.#waiting = "";
    this.#put(BEGIN + this.#erase() + text + this.#draw() + END);
  }

  /** Empties the terminal but for the block. */
  clear(): void {
    this.#drawn = undefined;
    this.#add("\x1b[H\x1b[2J\x1b[3J");
  }

  /** Takes the block away for good; what is printed later goes straight to the terminal. */
  close(): void {
    if (!this.#isOpen) return;
    clearTimeout(this.#timer);
    this.#put(this.#erase() + this.#waiting);
    this.#waiting = "";
    this.#isOpen = false;
  }

  /** Takes the block away until the next update, as another program takes the terminal. */
  leave(): void {
    this.#put(this.#erase() + this.#waiting);
    this.#waiting = "";
  }

  /** What writes whole lines above the block, for those who know a stream alone. */
  stream(): OutputStream {
    const decoder = new TextDecoder();
    // A line that was begun and is not ended yet.
    let partial = "";
    const take = (bytes: Uint8Array) => {
      const lines = (partial + decoder.decode(bytes, { stream: true })).split("\n");
      partial = lines.pop()!;
      this.#add(lines.map((line) => `${line}\r\n`).join(""));
      return bytes.length;
    };
    return {
      writeSync: take,
      write: (bytes) => Promise.resolve(take(bytes)),
      isTerminal: () => true,
    };
  }

  #add(text: string): void {
    if (!this.#isOpen) return this.#put(text);
    this.#waiting += text;
    if (this.#waiting.length > MAX_WAITING_CHARS) this.flush();
    else this.update();
  }

  #draw(): string {
    const { lines, cursor } = this.#block();
    // What is above the terminal's first row could not be taken away again.
    const most = this.height - 1;
    const cut = Math.max(0, lines.length - most);
    const shown = lines.slice(cut);
    const end = shown.length - 1;
    const row = cursor === undefined ? end : Math.max(0, cursor.row - cut);
    const column = cursor?.column ?? lineWidth(shown[end] ?? []);
    this.#drawn = { widths: shown.map(lineWidth), row };
    const up = end - row;
    return shown.map((line) => paint(line, this.#port.color)).join("\r\n") +
      (up > 0 ? `\x1b[${up}A` : "") + "\r" + (column > 0 ? `\x1b[${column}C` : "");
  }

  #erase(): string {
    if (this.#drawn === undefined) return "";
    const { widths, row } = this.#drawn;
    this.#drawn = undefined;
    const { columns } = this.#port.size();
    // A terminal that became narrower has broken rows in two.
    const up = widths.slice(0, row).reduce(
      (sum, width) => sum + Math.max(1, Math.ceil(width / columns)),
      0,
    );
    return "\r" + (up > 0 ? `\x1b[${up}A` : "") + "\x1b[J";
  }

  #put(text: string): void {
    if (text === "") return;
    try {
      this.#port.write(text);
    } catch {
      this.#isOpen = false;
      this.#onGone();
    }
  }
}
