/**
 * A TCP connection of a channel, encrypted where it is to be.
 *
 * @module
 */

/** Where it goes, and how it is made ready. */
export interface ConnectionOptions {
  hostname: string;
  port: number;
  /** What is done in the clear, before TLS where there is TLS. */
  prepare?: (plain: Deno.TcpConn) => void | Promise<void>;
  /** As `Deno.startTls` has them; absent: it stays in the clear. */
  tls?: { hostname: string; caCerts: readonly string[]; alpnProtocols?: string[] };
}

/**
 * Opens one that is ready to be spoken over: with TLS whoever is there has shown who it is. Rejects with
 * why not, and leaves nothing open then, nor when the signal is aborted.
 */
export async function openConnection(
  { hostname, port, prepare, tls }: ConnectionOptions,
  signal: AbortSignal,
): Promise<Deno.Conn> {
  const plain = await Deno.connect({ hostname, port, signal });
  let current: Deno.Conn = plain;
  const close = () => {
    try {
      current.close();
    } catch {
      // The one that is encrypted has taken it over just now, and is closed below.
    }
  };
  signal.addEventListener("abort", close, { once: true });
  try {
    signal.throwIfAborted();
    await prepare?.(plain);
    if (tls === undefined) return plain;
    const encrypted = await Deno.startTls(plain, { ...tls, caCerts: [...tls.caCerts] });
    current = encrypted;
    signal.throwIfAborted();
    // Before a password is sent.
    await encrypted.handshake();
    return encrypted;
  } catch (error) {
    close();
    throw error;
  } finally {
    signal.removeEventListener("abort", close);
  }
}
