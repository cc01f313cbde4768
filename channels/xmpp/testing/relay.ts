/**
 * Passes connections on to a server, until they are cut.
 *
 * @module
 */

/** A port of 127.0.0.1 in front of another. */
export class Relay {
  readonly #listener: Deno.TcpListener;
  readonly #open = new Set<Deno.Conn>();
  readonly #ended: Promise<void>;
  readonly #target: number;
  /** Nothing that the server says is passed on, and nothing that it is told. */
  #isSilent = false;
  #isDown = false;
  /** Connections so far. */
  connections = 0;

  constructor(target: number) {
    this.#target = target;
    this.#listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    this.#ended = this.#accept();
  }

  get port(): number {
    return this.#listener.addr.port;
  }

  /** What the server says from now on does not arrive. */
  silence(): void {
    this.#isSilent = true;
  }

  /** Cuts every connection; new ones work. */
  cut(): void {
    this.#isSilent = false;
    for (const each of this.#open) close(each);
  }

  /** Cuts every connection and takes no more. */
  async down(): Promise<void> {
    if (this.#isDown) return;
    this.#isDown = true;
    this.#listener.close();
    this.cut();
    await this.#ended;
  }

  async #accept(): Promise<void> {
    const passing: Promise<void>[] = [];
    try {
      for await (const from of this.#listener) passing.push(this.#pass(from));
    } catch (error) {
      if (!this.#isDown) throw error;
    }
    await Promise.all(passing);
  }

  async #pass(from: Deno.TcpConn): Promise<void> {
    let to: Deno.TcpConn | undefined;
    this.connections += 1;
    this.#open.add(from);
    try {
      to = await Deno.connect({ hostname: "127.0.0.1", port: this.#target });
      this.#open.add(to);
      for (const each of [from, to]) each.setNoDelay(true);
      if (this.#isDown) return;
      await Promise.race([this.#copy(from, to, false), this.#copy(to, from, true)]);
    } catch {
      // It was cut, or the server takes none.
    } finally {
      for (const each of [from, to]) {
        if (each === undefined) continue;
        this.#open.delete(each);
        close(each);
      }
    }
  }

  async #copy(from: Deno.Conn, to: Deno.Conn, isBack: boolean): Promise<void> {
    const chunk = new Uint8Array(64 * 1024);
    try {
      for (;;) {
        const size = await from.read(chunk);
        if (size === null) return;
        if (isBack && this.#isSilent) continue;
        for (let at = 0; at < size;) at += await to.write(chunk.subarray(at, size));
      }
    } catch {
      // It was cut.
    }
  }
}

function close(conn: Deno.Conn): void {
  try {
    conn.close();
  } catch {
    // It is closed already.
  }
}
