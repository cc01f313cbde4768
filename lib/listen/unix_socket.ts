/**
 * The file of a Unix socket that a listener is reached by: for its owner alone, and gone with it.
 *
 * @module
 */

import type { Server } from "node:net";
import { ServiceError } from "../base/errors.ts";

/** Of a socket that nobody but its owner may connect to. */
const OWNER_ONLY = 0o600;

/**
 * Listens at a path. What a dead process left there is removed first; a socket that somebody answers on,
 * or a file that is no socket, is an error `config_invalid` that names `param`. The file goes when the
 * server is closed.
 */
export async function listenUnix(server: Server, path: string, param: string): Promise<void> {
  await removeStale(path, param);
  const listening = new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.once("listening", () => {
      server.off("error", reject);
      resolve();
    });
  });
  server.listen(path);
  // The file is there as soon as that returns, and has the mode that the umask leaves. A mask of 022
  // lets nobody else connect even before; to set one takes a right that the service does not have.
  try {
    Deno.chmodSync(path, OWNER_ONLY);
  } catch (error) {
    // Where none was made, the server says why.
    if (!(error instanceof Deno.errors.NotFound)) {
      await listening.finally(() => server.close());
      throw error;
    }
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
