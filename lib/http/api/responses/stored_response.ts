/**
 * What can be done with a response that is on record: GET it, as an object or as a stream from some
 * event on, cancel it, DELETE it.
 *
 * @module
 */

import type { Clock } from "../../../base/clock.ts";
import type { Turns } from "../../../contract/turns.ts";
import { ServiceError } from "../../../base/errors.ts";
import type { Journal } from "../../../contract/journal.ts";
import type { OpenStreams } from "../open_streams.ts";
import { seat } from "../open_turn.ts";
import type { Readers } from "../readers.ts";
import type { RequestContext } from "../request_context.ts";
import { eventsOf, findResponse } from "./find_response.ts";
import { isOpen, jsonResponse, readEnding, readResponse } from "./read_response.ts";
import { responseNotFound } from "./response_id.ts";
import { streamResponse } from "./response_stream.ts";

/** What the routes need. */
export interface StoredResponseDeps {
  turns: Pick<Turns, "find">;
  responses: Journal["responses"];
  /** Digest of the key that the caller has shown. */
  credential: string;
  readers: Readers;
  /** Of the configuration's section `api`. */
  config: { readonly openResponsesDone: boolean };
  streams: OpenStreams;
  clock: Clock;
}

/** The query of a GET, as it was sent. */
export interface RetrieveQuery {
  stream?: string;
  starting_after?: string;
}

/** The routes' handlers. Each throws `response_not_found`. */
export interface StoredResponses {
  retrieve(
    id: string,
    query: RetrieveQuery,
    request: Request,
    context: RequestContext,
  ): Promise<Response>;
  /** Waits for the end of the turn; one that has ended stays as it is. */
  cancel(id: string, request: Request): Promise<Response>;
  /** Throws `response_in_progress` while the turn runs. The conversation keeps what was said. */
  remove(id: string): Promise<Response>;
}

/** Makes the handlers. */
export function createStoredResponses(deps: StoredResponseDeps): StoredResponses {
  const { turns, responses, credential, readers, config } = deps;
  return {
    async retrieve(id, query, request, context) {
      const { stream, startingAfter } = readQuery(query);
      const { handle, identity } = findResponse(deps, id);
      const events = eventsOf(identity, turns);
      if (!stream) {
        return jsonResponse(await readResponse(handle, identity, events, request.signal));
      }
      return streamResponse({
        ...deps,
        answer: handle,
        events,
        background: handle.turn.durable,
        startingAfter,
        // What a reader of this kind leaves is no turn of its own: it asks for no grace.
        seat: seat(request.signal, readers.join(handle, { graceMs: 0 })),
        done: config.openResponsesDone,
        context,
      });
    },

    async cancel(id, request) {
      const { handle, identity } = findResponse(deps, id);
      handle.cancel();
      const ending = await readEnding(handle, eventsOf(identity, turns), request.signal);
      return jsonResponse(ending.response);
    },

    async remove(id) {
      const { handle } = findResponse(deps, id);
      if (isOpen(handle)) {
        throw new ServiceError(
          "response_in_progress",
          "The response is not finished; cancel it before it is deleted",
        );
      }
      if (!await responses.remove(handle.id, credential)) throw responseNotFound(id);
      return jsonResponse({ id, object: "response", deleted: true });
    },
  };
}

function readQuery(
  { stream, starting_after: after }: RetrieveQuery,
): { stream: boolean; startingAfter: number } {
  if (stream !== undefined && stream !== "true" && stream !== "false") {
    throw wrongQuery("stream", "true or false", stream);
  }
  if (after === undefined) return { stream: stream === "true", startingAfter: -1 };
  if (!/^\d{1,15}$/.test(after)) {
    throw wrongQuery("starting_after", "the sequence_number of an event", after);
  }
  if (stream !== "true") {
    throw new ServiceError("invalid_request", "starting_after needs stream=true", {
      param: "starting_after",
    });
  }
  return { stream: true, startingAfter: Number(after) };
}

function wrongQuery(param: string, expected: string, got: string): ServiceError {
  return new ServiceError(
    "invalid_request",
    `${param} must be ${expected}, got ${JSON.stringify(got.slice(0, 80))}`,
    { param },
  );
}
