/**
 * A port for servers that have to be told one.
 *
 * @module
 */

/** Systems give ports from 32,768 on to whoever asks for any, and so to tests that run at the same time. */
const FIRST = 20_000;
const COUNT = 12_000;

/** A port of 127.0.0.1 that is free, as far as that can be known. */
export function freePort(): number {
  for (let left = 100;; left--) {
    const port = FIRST + Math.floor(Math.random() * COUNT);
    try {
      Deno.listen({ hostname: "127.0.0.1", port }).close();
      return port;
    } catch (error) {
      if (!(error instanceof Deno.errors.AddrInUse) || left === 0) throw error;
    }
  }
}
