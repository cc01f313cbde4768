/**
 * The file of a Unix socket that a listener is reached by: for its owner alone, and gone with it.
 *
 * @module
 */

import type { Server } from "node:net";
import { ServiceError } from "../errors.ts";

/** Of a socket that nobody but its owner may connect to. */
const OWNER_ONLY = 0o600;
const MASK = 0o777 & ~OWNER_ONLY;

/**
 * Listens at a path. What a dead process left there is removed first; a socket that somebody answers on,
 * or a file that is no socket, is an error `config_invalid` that names `param`. The file goes when the
 * server is closed.
 */
export async function listenUnix(server: Server, path: string, param: string): Promise<void> {
  await removeStale(path, param);
  // A socket is open to whoever its mode lets in from the moment of its making, so that the mode has
  // to be right then. It is made in this call, and nothing else runs in this thread meanwhile.
  const before = Deno.umask(MASK);
  const listening = new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.once("listening", () => {
      server.off("error", reject);
      resolve();
    });
  });
  try {
    server.listen(path);
  } finally {
    Deno.umask(before);
  }
  await listening;
}

async function removeStale(path: string, param: string): Promise<void> {
  const found = await Deno.lstat(path).catch((error) => {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  });
  if (found === undefined) return;
  if (!found.isSocket) {
    throw new ServiceError(
      "config_invalid",
      `Cannot listen on "${path}": a file that is no socket is there; set ${param} to another path`,
      { param },
    );
  }
  const answered = await Deno.connect({ transport: "unix", path }).then(
    (connection) => (connection.close(), true),
    (error) => !(error instanceof Deno.errors.ConnectionRefused),
  );
  if (answered) {
    throw new ServiceError(
      "config_invalid",
      `Cannot listen on "${path}": another program listens there; stop it, or set ${param} to ` +
        "another path",
      { param },
    );
  }
  await Deno.remove(path);
}
