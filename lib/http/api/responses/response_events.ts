/**
 * A turn's events as the events of a response: one pure mapping, whether they come live, are read
 * again for a stream that is resumed, or only make up the object of a whole answer. The same turn
 * gives the same events, byte for byte, whenever it is read.
 *
 * @module
 */

import type { AgentEvent, TurnStatus, Usage } from "../../../contract/events.ts";
import type { ErrorData } from "../../../base/errors.ts";
import type { HttpErrorType } from "../../../listen/error_table.ts";
import { toHttpError } from "../../../listen/errors.ts";
import { type TurnEnd, turnFailure } from "../chat/chat_text.ts";
import type { ResponseEvent, ResponseEventBody } from "./response_event.ts";
import {
  type ResponseError,
  type ResponseIdentity,
  type ResponseObject,
  responseObject,
  type ResponseStatus,
} from "./response_object.ts";
import { ResponseOutput } from "./response_output.ts";

/** How a response ended. */
export interface ResponseEnding {
  response: ResponseObject;
  /** Why, when it failed or was cancelled. */
  failure?: ErrorData;
}

/** The events of one response. */
export class ResponseEvents {
  readonly #identity: ResponseIdentity;
  readonly #endedAt: () => number | undefined;
  readonly #output: ResponseOutput;
  #nextNumber = 0;
  #isStarted = false;
  #error: ErrorData | undefined;
  #ending: ResponseEnding | undefined;

  /**
   * `endedAt` is asked when the turn has ended, for the moment that is on record, in milliseconds
   * since 1970.
   */
  constructor(identity: ResponseIdentity, endedAt: () => number | undefined) {
    this.#identity = identity;
    this.#endedAt = endedAt;
    this.#output = new ResponseOutput(identity.turnId);
  }

  /** Set once the last event was given. */
  get ending(): ResponseEnding | undefined {
    return this.#ending;
  }

  /** The first event. The turn may still wait for its session. */
  created(): ResponseEvent {
    return this.#number({ type: "response.created", response: this.#running() });
  }

  /** What an event of the turn becomes; nothing for those that this shape does not show. */
  next(event: AgentEvent): ResponseEvent[] {
    const bodies = this.#begin();
    if (event.type === "error") this.#error = event.error;
    for (const body of this.#output.take(event)) bodies.push(body);
    if (event.type === "turn_end") {
      bodies.push(this.#end(statusOf(event), event.usage, turnFailure(event, this.#error)));
    }
    return bodies.map((body) => this.#number(body));
  }

  /** The last events of a turn whose own end cannot be read. */
  breakOff(failure: ErrorData): ResponseEvent[] {
    const bodies = [
      ...this.#begin(),
      ...this.#output.cutOff(),
      this.#end("failed", undefined, failure),
    ];
    return bodies.map((body) => this.#number(body));
  }

  #begin(): ResponseEventBody[] {
    if (this.#isStarted) return [];
    this.#isStarted = true;
    return [{ type: "response.in_progress", response: this.#running() }];
  }

  #running(): ResponseObject {
    return responseObject(this.#identity, { status: "in_progress", output: [] });
  }

  #end(
    status: EndStatus,
    usage: Usage | undefined,
    failure: ErrorData | undefined,
  ): ResponseEventBody {
    const response = responseObject(this.#identity, {
      status,
      output: this.#output.items,
      usage,
      // Somebody's wish is no error; the status says it.
      error: failure && status !== "cancelled" ? publicError(failure) : undefined,
      completedAt: status === "completed" ? this.#endedAt() : undefined,
    });
    this.#ending = { response, failure };
    return { type: status === "cancelled" ? "response.failed" : `response.${status}`, response };
  }

  #number(body: ResponseEventBody): ResponseEvent {
    return { ...body, sequence_number: this.#nextNumber++ };
  }
}

type EndStatus = Exclude<ResponseStatus, "queued" | "in_progress">;

const STATUSES: Record<Exclude<TurnStatus, "done">, EndStatus> = {
  failed: "failed",
  cancelled: "cancelled",
  timed_out: "failed",
  interrupted: "failed",
};

function statusOf({ status, finishReason }: TurnEnd): EndStatus {
  if (status !== "done") return STATUSES[status];
  return finishReason === "length" ? "incomplete" : "completed";
}

/** As in the error envelope: what nobody expected stays inside (`lib/listen/errors.ts`). */
function publicError(failure: ErrorData): ResponseError {
  const { type, code, message } = toHttpError(failure, { accepted: true }).envelope.error;
  return { code: ERROR_CODES[type] ?? "server_error", message, service_code: code };
}

const ERROR_CODES: Partial<Record<HttpErrorType, ResponseError["code"]>> = {
  rate_limit_error: "rate_limit_exceeded",
  invalid_request_error: "invalid_prompt",
};
