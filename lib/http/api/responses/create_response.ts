/**
 * POST /v1/responses: the responses wire shape of a turn.
 *
 * @module
 */

import type { Clock } from "../../../base/clock.ts";
import type { Turns } from "../../../contract/turns.ts";
import { fromErrorData, ServiceError } from "../../../base/errors.ts";
import type { Journal } from "../../../contract/journal.ts";
import type { Log } from "../../../base/log.ts";
import type { Bodies } from "../../body.ts";
import { bodyType } from "../../guard.ts";
import { type ApiModel, requireModel } from "../models.ts";
import { createScrubber, type Scrubber } from "../../../secrets/scrubber.ts";
import type { OpenStreams } from "../open_streams.ts";
import type { Opened, TurnOpener } from "../open_turn.ts";
import type { RequestContext } from "../request_context.ts";
import { chooseConversation } from "./conversation.ts";
import { eventsOf } from "./find_response.ts";
import { IgnoredFields } from "./ignored_fields.ts";
import { jsonResponse, readEnding, readResponse } from "./read_response.ts";
import type { ResponseEcho, ResponseIdentity } from "./response_object.ts";
import { streamResponse } from "./response_stream.ts";
import {
  parseResponsesRequest,
  type ResponsesRequest,
  responsesRequestSchema,
} from "./responses_request.ts";

/** The route's path. */
export const RESPONSES_ROUTE = "/v1/responses";

/** What the route needs. */
export interface CreateResponseDeps {
  turns: Pick<Turns, "find">;
  opener: TurnOpener;
  bodies: Bodies;
  responses: Journal["responses"];
  /** Digest of the key that the caller has shown. */
  credential: string;
  model: () => ApiModel;
  /** Of the configuration's section `api`. */
  config: { readonly openResponsesDone: boolean };
  streams: OpenStreams;
  clock: Clock;
  /** Takes secrets out of what a response repeats of its request; absent: there are none. */
  scrubber?: Pick<Scrubber, "value">;
  log: Pick<Log, "info">;
}

/** A request whose turn is open. */
interface Accepted {
  opened: Opened;
  identity: ResponseIdentity;
  asked: Pick<ResponsesRequest, "stream" | "background">;
  context: RequestContext;
}

/** The route's handler. */
export function createResponse(
  deps: CreateResponseDeps,
): (request: Request, context: RequestContext) => Promise<Response> {
  const ignored = new IgnoredFields(deps.log, Object.keys(responsesRequestSchema.shape));

  return async (request, context) => {
    if (bodyType(request) !== "application/json") {
      throw new ServiceError("unsupported_media_type", "This route takes application/json", {
        param: "Content-Type",
      });
    }
    const accepted = await accept(request, context);
    if (accepted.asked.stream) return stream(accepted);
    try {
      return await whole(accepted);
    } finally {
      accepted.opened.leave();
    }
  };

  async function accept(request: Request, context: RequestContext): Promise<Accepted> {
    // Held until the turn has taken over what it needs of it.
    using body = await deps.bodies.json(request);
    const { parts, fields, ...asked } = parseResponsesRequest(
      body.value,
      request.headers.get("x-session-id"),
    );
    ignored.report(body.value as object);
    const model = deps.model();
    if (asked.model !== undefined) requireModel(model, asked.model);
    const sessionId = chooseConversation(deps, asked);
    const { scrubber = createScrubber() } = deps;
    const echo: ResponseEcho = {
      model: model.id,
      previous_response_id: asked.previousResponseId ?? null,
      metadata: scrubber.value(asked.metadata),
      store: asked.store,
      background: asked.background,
    };
    const opened = await deps.opener.open({
      route: RESPONSES_ROUTE,
      sessionId,
      parts,
      fields,
      request,
      context,
      background: asked.background,
      isWhole: !asked.stream,
      response: asked.store ? { credential: deps.credential, request: { ...echo } } : undefined,
    });
    const { id, acceptedAt } = opened.answer;
    return {
      opened,
      identity: { turnId: id, acceptedAt, echo: echoOf(opened, echo) },
      asked,
      context,
    };
  }

  /** As it is on record. */
  function echoOf({ answer, turn, repeated }: Opened, echo: ResponseEcho): ResponseEcho {
    // An answer beside the conversation is not kept.
    if (turn === undefined) return { ...echo, store: false };
    // A repeat gets what the first one got, also when the model has changed since.
    const first = repeated ? deps.responses.find(answer.id, deps.credential) : undefined;
    return first === undefined ? echo : first.request as unknown as ResponseEcho;
  }

  function stream({ opened, identity, asked, context }: Accepted): Response {
    return streamResponse({
      ...deps,
      answer: opened.answer,
      events: eventsOf(identity, deps.turns),
      background: asked.background,
      startingAfter: -1,
      seat: opened,
      onFailure: (failure) => void context.fail(fromErrorData(failure)),
      done: deps.config.openResponsesDone,
      context,
    });
  }

  async function whole({ opened, identity, asked }: Accepted): Promise<Response> {
    const events = eventsOf(identity, deps.turns);
    // Taken anew: it may have begun to run, or have ended, since it was accepted.
    const handle = asked.background ? deps.turns.find(identity.turnId) : undefined;
    if (handle !== undefined) {
      return jsonResponse(await readResponse(handle, identity, events, opened.signal));
    }
    const { response, failure } = await readEnding(opened.answer, events, opened.signal);
    if (failure !== undefined) throw fromErrorData(failure);
    return jsonResponse(response);
  }
}
