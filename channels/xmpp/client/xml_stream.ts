/**
 * Elements over a connection, one after the other (RFC 6120, 4).
 *
 * @module
 */

import { NS } from "./namespaces.ts";
import { oneLine } from "./one_line.ts";
import { plainFault } from "./plain_fault.ts";
import { xml, type XmlElement, XmlParser } from "./xmpp_library.ts";

/** What the server ends a stream with (RFC 6120, 4.9). */
export class StreamError extends Error {
  override readonly name = "StreamError";
  /** Such as `conflict`. */
  readonly condition: string;

  constructor(element: XmlElement) {
    const parts = element.getChildElements();
    const condition = parts.find(({ name }) => name !== "text")?.name ?? "undefined-condition";
    super(oneLine([condition, ...parts.map((part) => part.text())].join(" "), 300));
    this.condition = condition;
  }
}

/** Bytes without the end of an element; servers take a few hundred thousand from each other. */
const MAX_ELEMENT_BYTES = 4 * 1024 * 1024;

/** Bytes that wait to be written; a server that takes none of them is gone. */
const MAX_UNWRITTEN_BYTES = 4 * 1024 * 1024;

export class XmlStream {
  readonly #connection: Deno.Conn;
  readonly #maxBytes: number;
  readonly #tooMuch: string;
  readonly #encoder = new TextEncoder();
  readonly #decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  readonly #chunk = new Uint8Array(32 * 1024);
  readonly #elements: XmlElement[] = [];
  #parser = new XmlParser();
  #last = "";
  #unread = 0;
  #unwritten = 0;
  #writing = Promise.resolve();
  #problem: Error | undefined;

  /** `maxBytes` may come before an element has ended; what comes with more is rejected with `tooMuch`. */
  constructor(
    connection: Deno.Conn,
    maxBytes = MAX_ELEMENT_BYTES,
    tooMuch = "the server sent XML without an end",
  ) {
    this.#connection = connection;
    this.#maxBytes = maxBytes;
    this.#tooMuch = tooMuch;
  }

  /** Nothing has come behind the element that was read last. */
  get isRead(): boolean {
    return this.#elements.length === 0 && />\s*$/.test(this.#last);
  }

  /** Begins a stream, again behind a login; resolves with the features of the server. */
  async begin(domain: string): Promise<XmlElement> {
    const parser = this.#parser = new XmlParser();
    parser.on("element", (element: XmlElement) => {
      this.#unread = 0;
      this.#elements.push(element);
    });
    parser.on("error", (error: Error) => this.#problem ??= error);
    parser.on("end", () => this.#problem ??= new Error("the server has closed the connection"));
    const header = xml("stream:stream", {
      to: domain,
      version: "1.0",
      xmlns: "jabber:client",
      "xmlns:stream": NS.streams,
    });
    this.write(`<?xml version='1.0'?>${header.toString().replace(/\/>$/, ">")}`);
    return await this.next();
  }

  /** The next element. Rejects when there is none any more, with why. */
  async next(): Promise<XmlElement> {
    for (;;) {
      const element = this.#elements.shift();
      if (element?.is("error", NS.streams)) throw new StreamError(element);
      if (element !== undefined) return element;
      if (this.#problem !== undefined) throw this.#problem;
      const size = await this.#connection.read(this.#chunk).catch((error) => {
        throw this.#problem ?? plainFault(error);
      });
      if (size === null) throw this.#problem ?? new Error("the server has closed the connection");
      this.#unread += size;
      if (this.#unread > this.#maxBytes) throw new Error(this.#tooMuch);
      this.#last = this.#decoder.decode(this.#chunk.subarray(0, size), { stream: true });
      this.#parser.write(this.#last);
    }
  }

  /** Writes an element behind all that was written before; `next` rejects where that cannot be. */
  write(what: XmlElement | string): void {
    const bytes = this.#encoder.encode(what.toString());
    this.#unwritten += bytes.length;
    if (this.#unwritten > MAX_UNWRITTEN_BYTES) {
      return this.close(new Error("the server takes nothing any more"));
    }
    this.#writing = this.#writing.then(async () => {
      for (let at = 0; at < bytes.length;) at += await this.#connection.write(bytes.subarray(at));
      this.#unwritten -= bytes.length;
    }).catch((error) => this.close(plainFault(error)));
  }

  /** Closes the connection at once. */
  close(reason: Error): void {
    this.#problem ??= reason;
    try {
      this.#connection.close();
    } catch {
      // It is closed already.
    }
  }
}
