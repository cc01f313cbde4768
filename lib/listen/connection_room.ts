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
  /** Further ones that may wait to be accepted by each: all of them may be accepted before one is given up. */
  backlog: number;
}

/** Shares them out between the listeners that are served. `maxOpenFiles`: of this process; undefined: unbounded. */
export function connectionRoom(
  maxOpenFiles = Infinity,
  served: { api: boolean; web: boolean } = { api: true, web: true },
): ConnectionRoom {
  // Of few, half: whoever is connected wants something done, and that takes files too.
  const reserved = Math.min(RESERVED, Math.ceil(maxOpenFiles / 2));
  const forBoth = maxOpenFiles - reserved;
  const forApi = !served.api ? 0 : served.web ? Math.floor(forBoth / 5) : forBoth;
  const api = Math.min(MAX_API, forApi);
  const web = served.web ? Math.min(MAX_WEB, forBoth - api) : 0;
  // Both of them leave half of what is reserved.
  const backlog = Math.max(1, Math.floor(reserved / 4));
  return { api: Math.max(1, api), web: Math.max(1, web), backlog };
}
