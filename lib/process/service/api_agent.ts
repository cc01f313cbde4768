/**
 * The agent as a client of POST /mcp may use it: what the local socket offers, by whoever has the API's
 * key, in the API's own conversations.
 *
 * @module
 */

import { scrubbedError } from "../../agent/scrubbed_model.ts";
import type { Config } from "../../config/schema.ts";
import type { AgentAccess } from "../../mcp/serve/agent_access.ts";
import type { Scrubber } from "../../secrets/scrubber.ts";
import { createOperations, type OperationDeps } from "./operations.ts";

/** Channel of its sessions. */
const CHANNEL = "api";

/** Makes it. `api` is read for every turn; `scrubber` takes secrets out of answers and errors. */
export function apiAgent(
  deps: Omit<OperationDeps, "requester">,
  api: Pick<Config["api"], "attended" | "timeoutS">,
  scrubber: Pick<Scrubber, "text" | "value">,
): AgentAccess {
  const operations = createOperations({
    ...deps,
    requester: () => ({
      actor: "api:key",
      attended: api.attended,
      timeoutMs: api.timeoutS * 1000,
    }),
  });
  return {
    turn: (params, signal) => scrubbed(operations.turn(params, signal), scrubber),
    async operate(request, signal) {
      try {
        return scrubber.value(await operations.operate({ channel: CHANNEL, request }, signal));
      } catch (error) {
        throw scrubbedError(error, scrubber);
      }
    },
    channel: CHANNEL,
    readsAll: false,
  };
}

async function* scrubbed<T>(
  answers: AsyncIterable<T>,
  scrubber: Pick<Scrubber, "text" | "value">,
): AsyncGenerator<T> {
  try {
    for await (const answer of answers) yield scrubber.value(answer);
  } catch (error) {
    throw scrubbedError(error, scrubber);
  }
}
