/**
 * How many connections the listeners of a process may take, so that they never use up its open files:
 * where accepting fails for want of one, Deno 2.9 does not accept again, and the port is dead for good.
 *
 * @module
 */

/** Connections of the port for WebSockets, where there is room for them. */
const MAX_WEB = 10_000;
/** Connections of the HTTP API. */
const MAX_API = 1_000;

/** Files that are left for everything else: the journal, children of actions, what the model is asked over. */
const RESERVED = 512;

/** Connections at once of each listener. */
export interface ConnectionRoom {
  api: number;
  web: number;
}

/** Shares them out. `maxOpenFiles`: of this process; undefined: unbounded. */
export function connectionRoom(maxOpenFiles = Infinity): ConnectionRoom {
  // Of few, half: a service that can be asked and do nothing is of no use either.
  const forBoth = maxOpenFiles - Math.min(RESERVED, Math.ceil(maxOpenFiles / 2));
  const api = Math.max(1, Math.min(MAX_API, Math.floor(forBoth / 5)));
  return { api, web: Math.max(1, Math.min(MAX_WEB, forBoth - api)) };
}
