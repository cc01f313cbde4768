/**
 * Two ends of a connection of this machine; for tests.
 *
 * @module
 */

/** A connection's two ends. */
export async function pair(): Promise<[Deno.Conn, Deno.Conn]> {
  const path = `${await Deno.makeTempDir()}/socket`;
  const listener = Deno.listen({ transport: "unix", path });
  try {
    return await Promise.all([Deno.connect({ transport: "unix", path }), listener.accept()]);
  } finally {
    listener.close();
    await Deno.remove(path.slice(0, -"/socket".length), { recursive: true });
  }
}

/** Everything that comes until the end, as text. */
export async function readText(conn: Pick<Deno.Conn, "read">): Promise<string> {
  const decoder = new TextDecoder();
  const buffer = new Uint8Array(4_096);
  let text = "";
  for (;;) {
    const count = await conn.read(buffer);
    if (count === null) return text;
    text += decoder.decode(buffer.subarray(0, count), { stream: true });
  }
}

/** Writes a text whole. */
export async function writeText(conn: Pick<Deno.Conn, "write">, text: string): Promise<void> {
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.length;) at += await conn.write(bytes.subarray(at));
}
