/**
 * Passes connections on to a server, until it goes down.
 *
 * @module
 */

/** A port of 127.0.0.1 in front of another. */
export class Relay {
  readonly #listener: Deno.TcpListener;
  readonly #open = new Set<Deno.Conn>();
  readonly #ended: Promise<void>;
  readonly #target: number;
  #isDown = false;

  constructor(target: number) {
    this.#target = target;
    this.#listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    this.#ended = this.#accept();
  }

  get port(): number {
    return this.#listener.addr.port;
  }

  /** Cuts every connection and takes no more. */
  async down(): Promise<void> {
    if (this.#isDown) return;
    this.#isDown = true;
    this.#listener.close();
    for (const each of this.#open) close(each);
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

  async #pass(from: Deno.Conn): Promise<void> {
    let to: Deno.Conn | undefined;
    this.#open.add(from);
    try {
      to = await Deno.connect({ hostname: "127.0.0.1", port: this.#target });
      this.#open.add(to);
      if (this.#isDown) return;
      await Promise.allSettled([
        from.readable.pipeTo(to.writable),
        to.readable.pipeTo(from.writable),
      ]);
    } catch {
      // The server takes none.
    } finally {
      for (const each of [from, to]) {
        if (each === undefined) continue;
        this.#open.delete(each);
        close(each);
      }
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
