/**
 * A platform for `line_runtime.ts`: it sends every message three times, again to each that connects
 * until it is told that the message came, and keeps what it is given.
 *
 * @module
 */

/** A message to a chat. */
export interface LineMessage {
  id: string;
  chat: string;
  text: string;
  /** Milliseconds since 1970. */
  sentAt?: number;
}

export class LinePlatform implements AsyncDisposable {
  readonly #listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  readonly #messages: LineMessage[] = [];
  readonly #acked = new Set<string>();
  readonly #open = new Set<Deno.Conn>();
  readonly #accepting: Promise<void>;
  /** What came, in order. */
  readonly given: { id: string; chat: string; content: string }[] = [];
  /** Takes what it is given without a word of it. */
  isSilent = false;
  /** How often somebody connected. */
  connections = 0;
  /** Called with each line that comes. */
  onLine: () => void = () => {};

  constructor() {
    this.#accepting = this.#accept();
  }

  get port(): number {
    return this.#listener.addr.port;
  }

  /** Messages that are said to have come. */
  get acked(): number {
    return this.#acked.size;
  }

  /** Connections that are open at this moment. */
  get open(): number {
    return this.#open.size;
  }

  say(message: LineMessage): void {
    this.#messages.push(message);
    for (const connection of this.#open) this.#write(connection, message);
  }

  /** The end of whoever is connected, in the middle of what it does. */
  kill(): void {
    for (const connection of this.#open) this.#write(connection, { die: true });
  }

  hangUp(): void {
    for (const connection of this.#open) connection.close();
    this.#open.clear();
  }

  async #accept(): Promise<void> {
    try {
      for await (const connection of this.#listener) void this.#serve(connection);
    } catch {
      // It was closed.
    }
  }

  async #serve(connection: Deno.Conn): Promise<void> {
    this.#open.add(connection);
    this.connections += 1;
    for (const message of this.#messages) {
      if (!this.#acked.has(message.id)) this.#write(connection, message);
    }
    let rest = "";
    const decoder = new TextDecoder();
    const buffer = new Uint8Array(16_384);
    try {
      for (let read; (read = await connection.read(buffer)) !== null;) {
        const lines = (rest + decoder.decode(buffer.subarray(0, read), { stream: true })).split(
          "\n",
        );
        rest = lines.pop()!;
        for (const line of lines) this.#take(JSON.parse(line), connection);
      }
    } catch {
      // It is gone.
    }
    this.#open.delete(connection);
    this.onLine();
  }

  #take(
    line: { ack?: string; id: string; chat: string; content: string; hello?: string },
    connection: Deno.Conn,
  ): void {
    if (line.ack !== undefined) this.#acked.add(line.ack);
    else if (line.hello === undefined) {
      this.given.push(line);
      if (!this.isSilent) this.#write(connection, { got: line.id });
    }
    this.onLine();
  }

  #write(connection: Deno.Conn, line: LineMessage | { got: string } | { die: true }): void {
    const times = "text" in line ? 3 : 1;
    const bytes = new TextEncoder().encode(`${JSON.stringify(line)}\n`.repeat(times));
    connection.write(bytes).catch(() => {});
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listener.close();
    this.hangUp();
    await this.#accepting;
  }
}
