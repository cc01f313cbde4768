/**
 * Where log lines go. Writing a line never throws and never blocks: lines wait in a bounded buffer for
 * a thread of their own, and those that are lost are counted and reported in one line.
 *
 * @module
 */

/** Bytes that wait at most; further lines are dropped. */
const MAX_WAITING_BYTES = 1024 * 1024;

/**
 * Bytes of one write. POSIX writes this much to a pipe in one piece (`PIPE_BUF` on Linux), so that
 * lines of other threads never end up inside these.
 */
const MAX_WRITE_BYTES = 4_096;

/** How long lines that may wait do, milliseconds: what is lost of them when the process dies. */
const LATER_MS = 100;

/** Pause before writing again to a pipe or terminal that another process made non-blocking. */
const RETRY_MS = 5;

const LINE_END = 10;

/** What a {@linkcode LogOutput} is made of. */
export interface LogOutputOptions {
  /** Takes bytes without blocking this thread, as `Deno.stderr` does. */
  stream: { write(bytes: Uint8Array): Promise<number> };
  /** The line that reports how many were dropped, without its line break. */
  describeDropped: (lines: number) => string;
  /** Default: 1 MiB. */
  maxWaitingBytes?: number;
}

interface Entry {
  bytes: Uint8Array;
  /** Lines that are lost when this one is: itself, or those whose loss it reports. */
  lines: number;
}

/** A buffered, lossy output for lines. */
export class LogOutput {
  readonly #options: Required<LogOutputOptions>;
  readonly #encoder = new TextEncoder();
  #waiting: Entry[] = [];
  #waitingBytes = 0;
  #dropped = 0;
  /** The last write broke off inside a line. */
  #isInsideLine = false;
  #writing: Promise<void> | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: LogOutputOptions) {
    this.#options = { maxWaitingBytes: MAX_WAITING_BYTES, ...options };
  }

  /**
   * Adds a line, given without its line break. `later`: it may wait for others, and is written with the
   * next line that may not, a {@linkcode flush}, a full write, or after a moment.
   */
  write(line: string, { later = false }: { later?: boolean } = {}): void {
    const bytes = this.#encoder.encode(`${line}\n`);
    if (this.#waitingBytes + bytes.length > this.#options.maxWaitingBytes) {
      this.#dropped++;
      return;
    }
    this.#reportDropped();
    this.#add({ bytes, lines: 1 });
    if (!later || this.#waitingBytes >= MAX_WRITE_BYTES) return this.#start();
    if (this.#timer !== undefined) return;
    this.#timer = setTimeout(() => this.#start(), LATER_MS);
    Deno.unrefTimer(this.#timer);
  }

  /** Resolves when every line is written or dropped, or after so many milliseconds. */
  async flush(timeoutMs: number): Promise<void> {
    if (this.#waiting.length > 0) this.#start();
    if (this.#writing === undefined) return;
    const late = Promise.withResolvers<void>();
    const timer = setTimeout(late.resolve, timeoutMs);
    await Promise.race([this.#writing, late.promise]);
    clearTimeout(timer);
  }

  #reportDropped(): void {
    if (this.#dropped === 0) return;
    const lines = this.#dropped;
    this.#dropped = 0;
    const text = this.#options.describeDropped(lines);
    this.#add({ bytes: this.#encoder.encode(`${text}\n`), lines });
  }

  #add(entry: Entry): void {
    this.#waiting.push(entry);
    this.#waitingBytes += entry.bytes.length;
  }

  #start(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#writing ??= this.#writeWaiting();
  }

  async #writeWaiting(): Promise<void> {
    // What is said in the same turn of the event loop goes out together.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const entries = this.#takeBatch();
      const start = this.#isInsideLine ? 1 : 0;
      const written = await this.#writeWhole(joined(entries, start));
      let end = start;
      for (const { bytes, lines } of entries) {
        this.#waitingBytes -= bytes.length;
        end += bytes.length;
        if (end > written) this.#dropped += lines;
      }
      // After a failure the next line says it: an output that takes nothing is not tried for ever.
      if (end === written && this.#waiting.length === 0) this.#reportDropped();
    }
    this.#writing = undefined;
  }

  /** The next lines that fit into one write, at least one. */
  #takeBatch(): Entry[] {
    let size = 0;
    let count = 0;
    for (const { bytes } of this.#waiting) {
      size += bytes.length;
      if (count > 0 && size > MAX_WRITE_BYTES) break;
      count++;
    }
    return this.#waiting.splice(0, count);
  }

  /** How many of the bytes were written. */
  async #writeWhole(bytes: Uint8Array): Promise<number> {
    let at = 0;
    while (at < bytes.length) {
      try {
        at += await this.#options.stream.write(bytes.subarray(at));
        this.#isInsideLine = bytes[at - 1] !== LINE_END;
      } catch (error) {
        if (!(error instanceof Deno.errors.WouldBlock)) break;
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
    return at;
  }
}

/** The lines as one piece, behind so many line breaks. */
function joined(entries: readonly Entry[], lineBreaks: number): Uint8Array {
  if (entries.length === 1 && lineBreaks === 0) return entries[0]!.bytes;
  const size = entries.reduce((sum, { bytes }) => sum + bytes.length, lineBreaks);
  const whole = new Uint8Array(size).fill(LINE_END, 0, lineBreaks);
  let at = lineBreaks;
  for (const { bytes } of entries) {
    whole.set(bytes, at);
    at += bytes.length;
  }
  return whole;
}
