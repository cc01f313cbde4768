import { ServiceError } from "../../lib/base/errors.ts";
import { connectLocal, endpointAt } from "../../lib/local/endpoint.ts";
import type { LocalClient } from "../../lib/local/client.ts";
import type { Globals } from "../command.ts";
import { homePaths } from "../home_paths.ts";

/**
 * Gives `use` a connection to the service that runs in the home: how channels are is in its memory, and to
 * start another one would say nothing of that. Rejects with `not_found` when none runs.
 */
export async function withRunningGateway<T>(
  globals: Globals,
  use: (client: LocalClient) => Promise<T>,
): Promise<T> {
  const { home, socket } = homePaths(globals);
  const client = await connectLocal(endpointAt(socket));
  if (client === undefined) {
    throw new ServiceError(
      "not_found",
      `No service runs in ${home}, so no channels are running. Start it with: service start`,
    );
  }
  try {
    return await use(client);
  } catch (error) {
    if (!(error instanceof ServiceError) || error.details.param !== "op") throw error;
    throw new ServiceError(
      "not_enabled",
      `The service that runs in ${home} has no channels; service start runs one that has`,
    );
  } finally {
    client.close();
  }
}
