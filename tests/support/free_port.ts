/**
 * A port for servers that have to be told one.
 *
 * @module
 */

/** A port of 127.0.0.1 that is free, as far as that can be known. */
export function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}
