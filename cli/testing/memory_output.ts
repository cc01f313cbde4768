/**
 * An {@linkcode Output} whose words stay in memory, for tests.
 *
 * @module
 */

import { Output, type OutputStream } from "../output.ts";

/** A stream that keeps what is written to it. */
export class MemoryStream implements OutputStream {
  readonly #chunks: Uint8Array[] = [];
  readonly #terminal: boolean;
  /** Thrown by the next writes, one each. */
  readonly failures: Error[] = [];
  /** Bytes that one write takes at most. */
  maxBytes = Infinity;

  constructor(terminal: boolean) {
    this.#terminal = terminal;
  }

  writeSync(bytes: Uint8Array): number {
    const failure = this.failures.shift();
    if (failure !== undefined) throw failure;
    const taken = bytes.slice(0, this.maxBytes);
    this.#chunks.push(taken);
    return taken.length;
  }

  // deno-lint-ignore require-await
  async write(bytes: Uint8Array): Promise<number> {
    return this.writeSync(bytes);
  }

  isTerminal(): boolean {
    return this.#terminal;
  }

  get text(): string {
    const decoder = new TextDecoder();
    return this.#chunks.map((chunk) => decoder.decode(chunk, { stream: true })).join("");
  }
}

/** An output and what was written to it. */
export interface MemoryOutput {
  out: Output;
  stdout: MemoryStream;
  stderr: MemoryStream;
}

/** Pipes unless told that they are terminals. */
export function memoryOutput(
  { stdout = false, stderr = false, noColor = false, columns = undefined as number | undefined } =
    {},
): MemoryOutput {
  const streams = { stdout: new MemoryStream(stdout), stderr: new MemoryStream(stderr) };
  return { out: new Output({ ...streams, noColor, columns: () => columns }), ...streams };
}
