/**
 * Finds where the body of a request ends, so that what follows it goes to nobody.
 *
 * @module
 */

import type { BodyLength } from "./client_request.ts";

/** Longest line of chunked coding: a length with extensions, or a trailer. */
const MAX_LINE_BYTES = 8_192;

/** Follows a body as it comes. */
export class BodyEnd {
  /** Bytes of the body or of the chunk that are still to come. */
  #left: number;
  /** What is read of chunked coding: a length, a chunk with its line break, trailers; or all is read. */
  #state: "plain" | "size" | "data" | "trailer" | "done";
  #line = "";

  constructor(length: BodyLength) {
    this.#left = length === "chunked" ? 0 : length;
    this.#state = length === "chunked" ? "size" : length === 0 ? "done" : "plain";
  }

  get isDone(): boolean {
    return this.#state === "done";
  }

  /** How many of these bytes belong to the body. Throws when they are no chunked body. */
  take(bytes: Uint8Array): number {
    let at = 0;
    while (at < bytes.length && this.#state !== "done") {
      if (this.#state === "plain" || this.#state === "data") {
        const count = Math.min(this.#left, bytes.length - at);
        this.#left -= count;
        at += count;
        if (this.#left === 0) this.#state = this.#state === "plain" ? "done" : "size";
      } else {
        this.#takeByte(bytes[at++]!);
      }
    }
    return at;
  }

  #takeByte(byte: number): void {
    if (byte !== 10) {
      if (this.#line.length >= MAX_LINE_BYTES) throw new Error("a line of its body is too long");
      this.#line += String.fromCharCode(byte);
      return;
    }
    if (!this.#line.endsWith("\r")) throw new Error("a line of its body ends without CRLF");
    const line = this.#line.slice(0, -1);
    this.#line = "";
    if (this.#state === "trailer") {
      if (line === "") this.#state = "done";
      return;
    }
    const size = /^([0-9A-Fa-f]{1,12})(?:[ \t]*;.*)?$/.exec(line);
    if (size === null) throw new Error("its body is not chunked as it says");
    const length = parseInt(size[1]!, 16);
    // The chunk's own line break is part of it.
    this.#left = length + 2;
    this.#state = length === 0 ? "trailer" : "data";
  }
}
