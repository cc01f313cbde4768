/**
 * A port for servers that have to be told one.
 *
 * Each process takes from a block of its own: between the choice of a port and the moment its server listens
 * there, no other test takes it.
 *
 * @module
 */

import { join } from "node:path";
import { tmpdir } from "node:os";

/** Systems give ports from 32,768 on to whoever asks for any, and so to tests that run at the same time. */
const FIRST = 20_000;
const COUNT = 12_000;
const BLOCK = 200;

const block = takeBlock();
let next = 0;

/** The first port of a block that is this process's until it ends. */
function takeBlock(): number {
  for (let first = FIRST; first < FIRST + COUNT; first += BLOCK) {
    // A file of another user could not be opened.
    const path = join(tmpdir(), `test-ports-${Deno.uid()}-${first}`);
    if (Deno.openSync(path, { create: true, write: true }).tryLockSync(true)) return first;
  }
  throw new Error(`All ports from ${FIRST} to ${FIRST + COUNT} are taken by other tests`);
}

/** A port of 127.0.0.1 that is free, and that no other process of the tests takes. */
export function freePort(): number {
  for (let left = BLOCK; left > 0; left--) {
    const port = block + next++ % BLOCK;
    try {
      Deno.listen({ hostname: "127.0.0.1", port }).close();
      return port;
    } catch (error) {
      if (!(error instanceof Deno.errors.AddrInUse)) throw error;
    }
  }
  throw new Error(`No port from ${block} to ${block + BLOCK} is free`);
}
