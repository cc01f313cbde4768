/**
 * One HTTP/1.1 connection of a fake server over a plain socket, for what a real server library
 * hides: the moment at which the client leaves, and breaking off in the middle of an answer.
 *
 * It understands what fetch sends: one request after the other, each with a Content-Length.
 *
 * @module
 */

/** A request as it came. */
export interface HttpRequest {
  method: string;
  path: string;
  headers: Headers;
  body: Uint8Array<ArrayBuffer>;
}

const encoder = new TextEncoder();

/** A connection that a client opened. */
export class HttpConnection {
  readonly #connection: Deno.Conn;
  readonly #left = new AbortController();
  #buffer: Uint8Array<ArrayBuffer> = new Uint8Array();
  #wake = () => {};

  constructor(connection: Deno.Conn) {
    this.#connection = connection;
    this.#pump();
  }

  /** Aborts when the client closes the connection, or {@linkcode destroy} does. */
  get left(): AbortSignal {
    return this.#left.signal;
  }

  /** The next request; undefined when no further one comes. */
  async read(): Promise<HttpRequest | undefined> {
    let headEnd: number;
    while ((headEnd = indexOfBlankLine(this.#buffer)) < 0) {
      if (!await this.#more()) return undefined;
    }
    const head = new TextDecoder().decode(this.#buffer.subarray(0, headEnd));
    const [requestLine = "", ...lines] = head.split("\r\n");
    const [method = "", path = ""] = requestLine.split(" ");
    const headers = new Headers(lines.map((line): [string, string] => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon), line.slice(colon + 1).trim()];
    }));
    const bodyStart = headEnd + 4;
    const end = bodyStart + Number(headers.get("content-length") ?? 0);
    while (this.#buffer.length < end) {
      if (!await this.#more()) return undefined;
    }
    const body = this.#buffer.slice(bodyStart, end);
    this.#buffer = this.#buffer.slice(end);
    return { method, path, headers, body };
  }

  /** Answers whole. */
  async send(status: number, headers: Record<string, string>, body: string): Promise<void> {
    const bytes = encoder.encode(body);
    await this.#write(encoder.encode(headOf(status, {
      ...headers,
      "content-length": String(bytes.length),
    })));
    await this.#write(bytes);
  }

  /** Begins an answer that {@linkcode chunk} goes on with and {@linkcode end} ends. */
  async begin(status: number, headers: Record<string, string>): Promise<void> {
    await this.#write(encoder.encode(headOf(status, {
      ...headers,
      "transfer-encoding": "chunked",
    })));
  }

  /** A piece of the body, not empty. Waits while the client does not read. */
  async chunk(bytes: Uint8Array): Promise<void> {
    const size = encoder.encode(`${bytes.length.toString(16)}\r\n`);
    const framed = new Uint8Array(size.length + bytes.length + 2);
    framed.set(size);
    framed.set(bytes, size.length);
    framed.set([0x0d, 0x0a], framed.length - 2);
    await this.#write(framed);
  }

  /** Ends the body. */
  async end(): Promise<void> {
    await this.#write(encoder.encode("0\r\n\r\n"));
  }

  /** Closes the socket, whatever was sent. */
  destroy(): void {
    if (this.#left.signal.aborted) return;
    this.#left.abort();
    this.#wake();
    this.#connection.close();
  }

  /** Reads on all the time, for that is how it is noticed that the client has left. */
  async #pump(): Promise<void> {
    const chunk = new Uint8Array(64 * 1024);
    try {
      for (;;) {
        const length = await this.#connection.read(chunk);
        if (length === null) break;
        const buffer = new Uint8Array(this.#buffer.length + length);
        buffer.set(this.#buffer);
        buffer.set(chunk.subarray(0, length), this.#buffer.length);
        this.#buffer = buffer;
        this.#wake();
      }
    } catch {
      // A connection that breaks is one that is left.
    }
    this.destroy();
  }

  async #more(): Promise<boolean> {
    if (this.left.aborted) return false;
    await new Promise<void>((resolve) => this.#wake = resolve);
    return !this.left.aborted;
  }

  async #write(bytes: Uint8Array): Promise<void> {
    try {
      for (let at = 0; at < bytes.length && !this.left.aborted;) {
        at += await this.#connection.write(bytes.subarray(at));
      }
    } catch {
      this.destroy();
    }
  }
}

function headOf(status: number, headers: Record<string, string>): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} Fake\r\n${lines.join("")}\r\n`;
}

function indexOfBlankLine(bytes: Uint8Array): number {
  for (let at = bytes.indexOf(0x0d); at >= 0; at = bytes.indexOf(0x0d, at + 1)) {
    if (bytes[at + 1] === 0x0a && bytes[at + 2] === 0x0d && bytes[at + 3] === 0x0a) return at;
  }
  return -1;
}
