/**
 * Where a command prints: its result to standard output, everything else to standard error.
 *
 * Text that reaches a terminal never carries control characters: a model's answer or a session's
 * title must not move the cursor, set the clipboard or fake a colour. Styles are therefore given
 * beside the text ({@linkcode Span}), never inside it. A pipe or a file gets the text as it is.
 *
 * @module
 */

import { COMMANDS } from "./commands.ts";

/** How a piece of text looks on a terminal; without one, and with NO_COLOR, it is plain. */
export type Style = "bold" | "dim" | "red" | "green" | "yellow" | "paper";

/** A piece of text with its style. */
export interface Span {
  text: string;
  style?: Style;
  /** What someone else wrote: a command in it is not ours to rewrite. */
  isData?: boolean;
}

/** The reader of standard output went away (`| head`). The program ends quietly. */
export class OutputClosedError extends Error {
  override readonly name = "OutputClosedError";

  constructor(options?: ErrorOptions) {
    super("Standard output was closed by its reader", options);
  }
}

/** One of the process's two outputs, as far as {@linkcode Output} needs it. */
export interface OutputStream {
  writeSync(bytes: Uint8Array): number;
  write(bytes: Uint8Array): Promise<number>;
  isTerminal(): boolean;
}

/** What an {@linkcode Output} is made of. */
export interface OutputDeps {
  stdout: OutputStream;
  stderr: OutputStream;
  /** NO_COLOR is set to something (https://no-color.org). */
  noColor: boolean;
  /** Width of the terminal; undefined when it can't be told. */
  columns(): number | undefined;
  /** What people type to reach this program; default: `service`. */
  typedAs?: () => string;
}

const SGR: Readonly<Record<Style, string>> = {
  bold: "\x1b[1m",
  dim: "\x1b[2m",
  red: "\x1b[31m",
  green: "\x1b[32m",
  yellow: "\x1b[33m",
  // Black on white, whatever the terminal's own colours are: a QR code is read so.
  paper: "\x1b[38;5;16;48;5;231m",
};
const RESET = "\x1b[0m";

// C0 but tab and line feed, DEL, C1, and the characters that reorder text (Unicode TR9).
// deno-lint-ignore no-control-regex
const UNSAFE = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** A command line of this program in words for people, such as `service agent -m hi`. */
const HINT = new RegExp(
  "(?<![\\w./=@-]|\\b[Tt]he |\\btask |\\b[Aa] )service(?= (?:" +
    `${COMMANDS.map(({ name }) => name).join("|")}|<command>|--help)(?![\\w-]))`,
  "g",
);

/** Words with each command in them as it is typed in this installation. */
export function hinted(text: string, typed: () => string = typedAs): string {
  return text.replace(HINT, typed);
}

/** Keys of JSON whose values tell people what to type. */
const HINT_KEYS = new Set(["fix", "next", "hint"]);

/** The text without what a terminal would obey: carriage returns go, the rest becomes visible. */
export function sanitize(text: string): string {
  return text.replace(UNSAFE, (char) => {
    if (char === "\r") return "";
    const code = char.charCodeAt(0);
    // Control pictures, such as ␛ for the escape character.
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    return code === 0x7f ? "\u2421" : "\ufffd";
  });
}

/** JSON in one line that is the same value and safe to show on a terminal. */
export function jsonLine(value: unknown): string {
  return safeJson(JSON.stringify(value));
}

function safeJson(text: string): string {
  return text.replace(
    UNSAFE,
    (char) => "\\u" + char.charCodeAt(0).toString(16).padStart(4, "0"),
  );
}

/** The two outputs of a command. */
export class Output {
  readonly #out: Sink;
  readonly #err: Sink;
  readonly #columns: () => number | undefined;
  readonly #typedAs: () => string;

  constructor({ stdout, stderr, noColor, columns, typedAs = () => "service" }: OutputDeps) {
    this.#columns = columns;
    this.#typedAs = typedAs;
    this.#out = new Sink(stdout, noColor);
    this.#err = new Sink(stderr, noColor);
  }

  /** Standard output is a terminal. */
  get isTerminal(): boolean {
    return this.#out.isTerminal;
  }

  /** Standard output is a terminal that shows colours. */
  get hasColor(): boolean {
    return this.#out.hasColor;
  }

  /** Width of the terminal that standard output is; undefined when it isn't one. */
  get columns(): number | undefined {
    return this.isTerminal ? this.#columns() : undefined;
  }

  /** Standard error is a terminal. */
  get isErrorTerminal(): boolean {
    return this.#err.isTerminal;
  }

  /** The words with each command in them as it is typed in this installation. */
  hinted(text: string): string {
    return hinted(text, this.#typedAs);
  }

  /** One line on standard output. Throws {@linkcode OutputClosedError} when nobody reads it. */
  line(...spans: (string | Span)[]): void {
    this.#out.put([...this.#words(spans), "\n"]);
  }

  /** A value as one JSON line on standard output. Throws {@linkcode OutputClosedError}. */
  json(value: unknown): void {
    const text = JSON.stringify(
      value,
      (key, each) => HINT_KEYS.has(key) && typeof each === "string" ? this.hinted(each) : each,
    );
    this.#out.put([safeJson(text) + "\n"]);
  }

  /** Text as it is on standard output, without a line end. Throws {@linkcode OutputClosedError}. */
  write(...spans: (string | Span)[]): void {
    this.#out.put(spans);
  }

  /**
   * As {@linkcode write}, without holding up this thread while the reader is slow: signals are
   * served and, in the process that owns the home, its guests too. Await it before the next write.
   */
  async stream(...spans: (string | Span)[]): Promise<void> {
    await this.#out.stream(spans);
  }

  /** Text with control sequences of this program's own on standard output, as it is. */
  writeRaw(text: string): void {
    this.#out.putRaw(text);
  }

  /** One line on standard error, for people. Never fails: without a reader it is lost. */
  note(...spans: (string | Span)[]): void {
    this.writeNote(...spans, "\n");
  }

  /** As {@linkcode note}, without a line end. */
  writeNote(...spans: (string | Span)[]): void {
    try {
      this.#err.put(this.#words(spans));
    } catch (error) {
      if (!(error instanceof OutputClosedError)) throw error;
    }
  }

  #words(spans: readonly (string | Span)[]): (string | Span)[] {
    return spans.map((span) =>
      typeof span === "string"
        ? this.hinted(span)
        : span.isData
        ? span
        : { ...span, text: this.hinted(span.text) }
    );
  }
}

/** Writes spans to one stream, whole. */
class Sink {
  readonly #stream: OutputStream;
  readonly #encoder = new TextEncoder();
  readonly hasColor: boolean;
  readonly isTerminal: boolean;
  /** First half of a character that was split between two writes. */
  #half = "";

  constructor(stream: OutputStream, noColor: boolean) {
    this.#stream = stream;
    this.isTerminal = stream.isTerminal();
    this.hasColor = this.isTerminal && !noColor;
  }

  put(spans: readonly (string | Span)[]): void {
    this.#putBytes(this.#encode(spans));
  }

  putRaw(text: string): void {
    this.#putBytes(this.#encoder.encode(text));
  }

  #putBytes(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length;) {
      try {
        at += this.#stream.writeSync(bytes.subarray(at));
      } catch (error) {
        this.#rethrow(error);
        // Another process made the shared terminal or pipe non-blocking: wait for its reader.
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS);
      }
    }
  }

  async stream(spans: readonly (string | Span)[]): Promise<void> {
    const bytes = this.#encode(spans);
    for (let at = 0; at < bytes.length;) {
      try {
        at += await this.#stream.write(bytes.subarray(at));
      } catch (error) {
        this.#rethrow(error);
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
  }

  /** Returns only for an error after which the same write is to be tried again. */
  #rethrow(error: unknown): void {
    if (error instanceof Deno.errors.WouldBlock) return;
    if (
      error instanceof Deno.errors.BrokenPipe || error instanceof Deno.errors.ConnectionReset
    ) {
      throw new OutputClosedError({ cause: error });
    }
    throw error;
  }

  #encode(spans: readonly (string | Span)[]): Uint8Array {
    let text = "";
    for (const span of spans) {
      const { text: raw, style }: Span = typeof span === "string" ? { text: span } : span;
      const safe = this.isTerminal ? sanitize(raw) : raw;
      text += style !== undefined && this.hasColor && safe !== ""
        ? SGR[style] + safe + RESET
        : safe;
    }
    text = this.#half + text;
    this.#half = /[\ud800-\udbff]$/.test(text) ? text.slice(-1) : "";
    return this.#encoder.encode(this.#half === "" ? text : text.slice(0, -1));
  }
}

const RETRY_MS = 5;

function terminalWidth(): number | undefined {
  try {
    return Deno.consoleSize().columns;
  } catch {
    return undefined;
  }
}

/** The variable in which a launcher says what people type to reach it. */
export const TYPED_AS = "SERVICE_COMMAND";

function typedAs(): string {
  try {
    return Deno.env.get(TYPED_AS) ?? "service";
  } catch {
    // Nobody who starts this program without the permission has set it.
    return "service";
  }
}

/** The outputs of this process. */
export function processOutput(): Output {
  return new Output({
    stdout: Deno.stdout,
    stderr: Deno.stderr,
    noColor: (Deno.env.get("NO_COLOR") ?? "") !== "",
    columns: terminalWidth,
    typedAs,
  });
}
