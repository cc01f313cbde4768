/**
 * A connection to a service that runs already: what waits for an approval, and how channels are, is in its
 * memory, so that to start another one would show nothing.
 *
 * @module
 */

import { ServiceError } from "../../lib/base/errors.ts";
import type { LocalClient } from "../../lib/local/client.ts";
import type { Globals } from "../command.ts";
import { homePaths } from "../home_paths.ts";

/** Gives `use` the connection. Rejects with `not_found` when no service runs in the home, so that `none`. */
export async function withRunningService<T>(
  globals: Globals,
  none: string,
  use: (client: LocalClient) => Promise<T>,
): Promise<T> {
  const { home, socket } = homePaths(globals);
  const { connectLocal, endpointAt } = await import("../../lib/local/endpoint.ts");
  const client = await connectLocal(endpointAt(socket));
  if (client === undefined) {
    throw new ServiceError("not_found", `No service runs in ${home}, so ${none}`);
  }
  try {
    return await use(client);
  } finally {
    client.close();
  }
}
