/**
 * HTTP over a plain socket, for requests that no client library would send, and for answers looked at
 * byte by byte.
 *
 * @module
 */

/** An answer as it came. */
export interface RawAnswer {
  /** Such as `HTTP/1.1`. */
  version: string;
  status: number;
  headers: Headers;
  /** Its transfer coding undone. */
  body: string;
  /** Statuses of the 1xx answers before it. */
  informed: number[];
}

/** After this long, a read fails: a test must not hang where a service does. */
const DEADLINE_MS = 60_000;

const encoder = new TextEncoder();

/** A connection to a service on loopback. */
export class RawSocket implements Disposable {
  readonly #connection: Deno.TcpConn;
  #bytes: Uint8Array = new Uint8Array();
  #ended = false;
  #closed = false;

  private constructor(connection: Deno.TcpConn) {
    this.#connection = connection;
  }

  /** Connects. `target` is a port or a base URL. */
  static async open(target: number | string): Promise<RawSocket> {
    const port = typeof target === "number" ? target : Number(new URL(target).port);
    const connection = await Deno.connect({ hostname: "127.0.0.1", port });
    connection.setNoDelay(true);
    return new RawSocket(connection);
  }

  /** Sends all of it; a string's characters are bytes (Latin-1). False when the peer is gone. */
  async send(data: string | Uint8Array): Promise<boolean> {
    const bytes = typeof data === "string" ? Uint8Array.from(data, (c) => c.charCodeAt(0)) : data;
    try {
      for (let at = 0; at < bytes.length;) at += await this.#connection.write(bytes.subarray(at));
      return true;
    } catch {
      return false;
    }
  }

  /** Says that nothing more will be sent, and goes on reading. */
  async endSending(): Promise<void> {
    await this.#connection.closeWrite();
  }

  /** The next answer, whole. `bodiless` for one to HEAD. Fails when the connection ends before. */
  async answer({ bodiless = false } = {}): Promise<RawAnswer> {
    const informed: number[] = [];
    for (;;) {
      const head = await this.#until("\r\n\r\n");
      const [line = "", ...fields] = head.split("\r\n");
      const status = Number(line.split(" ")[1]);
      if (status >= 100 && status < 200) {
        informed.push(status);
        continue;
      }
      const headers = new Headers(fields.map((field): [string, string] => {
        const colon = field.indexOf(":");
        return [field.slice(0, colon), field.slice(colon + 1).trim()];
      }));
      const none = bodiless || status === 204 || status === 304;
      const body = none ? "" : await this.#body(headers);
      return { version: line.split(" ")[0]!, status, headers, body, informed };
    }
  }

  /** What comes until `text` did, that included. */
  async readUntil(text: string): Promise<string> {
    return await this.#until(text) + text;
  }

  /** Everything that comes until the service ends the connection. */
  async rest(): Promise<string> {
    while (await this.#more());
    return this.#take(this.#bytes.length);
  }

  /** Closes it, whatever is under way. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#connection.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  async #body(headers: Headers): Promise<string> {
    if (headers.get("transfer-encoding") === "chunked") {
      let body = "";
      for (;;) {
        const size = Number.parseInt(await this.#until("\r\n"), 16);
        if (!Number.isInteger(size)) throw new Error("The answer has a chunk without a size");
        while (this.#bytes.length < size + 2) await this.#need();
        body += this.#take(size);
        if (this.#take(2) !== "\r\n") throw new Error("A chunk of the answer is of another size");
        if (size === 0) return body;
      }
    }
    const length = headers.get("content-length");
    if (length === null) return await this.rest();
    while (this.#bytes.length < Number(length)) await this.#need();
    return this.#take(Number(length));
  }

  async #until(text: string): Promise<string> {
    const wanted = encoder.encode(text);
    for (let from = 0;;) {
      const at = indexOf(this.#bytes, wanted, from);
      if (at >= 0) {
        const found = this.#take(at);
        this.#take(wanted.length);
        return found;
      }
      from = Math.max(0, this.#bytes.length - wanted.length);
      await this.#need();
    }
  }

  #take(length: number): string {
    const text = new TextDecoder().decode(this.#bytes.subarray(0, length));
    this.#bytes = this.#bytes.subarray(length);
    return text;
  }

  async #need(): Promise<void> {
    if (await this.#more()) return;
    const got = new TextDecoder().decode(this.#bytes);
    throw new Error(`The connection ended; before that came ${JSON.stringify(got)}`);
  }

  /** False at the end of the connection. */
  async #more(): Promise<boolean> {
    if (this.#ended) return false;
    const chunk = new Uint8Array(64 * 1024);
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => {
        this.close();
        reject(new Error(`Nothing came within ${DEADLINE_MS} ms`));
      }, DEADLINE_MS);
    });
    try {
      const count = await Promise.race([this.#connection.read(chunk).catch(() => null), late]);
      if (count === null) {
        this.#ended = true;
        return false;
      }
      const bytes = new Uint8Array(this.#bytes.length + count);
      bytes.set(this.#bytes);
      bytes.set(chunk.subarray(0, count), this.#bytes.length);
      this.#bytes = bytes;
      return true;
    } finally {
      clearTimeout(timer);
    }
  }
}

/** A whole POST of JSON to a route. */
export function jsonPost(
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
): string {
  const text = JSON.stringify(body);
  const lines = Object.entries({
    host: "127.0.0.1",
    "content-type": "application/json",
    "content-length": String(encoder.encode(text).length),
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST ${path} HTTP/1.1\r\n${lines.join("")}\r\n${text}`;
}

function indexOf(bytes: Uint8Array, wanted: Uint8Array, from: number): number {
  for (let at = bytes.indexOf(wanted[0]!, from); at >= 0; at = bytes.indexOf(wanted[0]!, at + 1)) {
    if (wanted.every((byte, index) => bytes[at + index] === byte)) return at;
  }
  return -1;
}
