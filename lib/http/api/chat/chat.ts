/**
 * POST /v1/chat/completions: the chat wire shape of a turn.
 *
 * @module
 */

import type { Clock } from "../../../base/clock.ts";
import type { Credential } from "../../../contract/credentials.ts";
import { fromErrorData, ServiceError } from "../../../base/errors.ts";
import type { Bodies } from "../../body.ts";
import { bodyType } from "../../guard.ts";
import { ChatCompletion } from "./chat_completion.ts";
import { parseChatForm } from "./chat_form.ts";
import { type ChatRequest, parseChatRequest } from "./chat_request.ts";
import { type ChatEvent, chatSegment } from "./chat_segment.ts";
import { streamChat } from "./chat_stream.ts";
import type { ChatIdentity } from "./chat_text.ts";
import type { OfferedApprovals } from "./offered_approvals.ts";
import { type ApiModel, requireModel } from "../models.ts";
import type { OpenStreams } from "../open_streams.ts";
import type { Opened, TurnOpener } from "../open_turn.ts";
import type { RequestContext } from "../request_context.ts";

/** The route's path. */
export const CHAT_ROUTE = "/v1/chat/completions";

/** What the route needs. */
export interface ChatDeps {
  bodies: Bodies;
  opener: TurnOpener;
  approvals: OfferedApprovals;
  model: () => ApiModel;
  streams: OpenStreams;
  clock: Clock;
}

/** What is left to know of a request once its turn is open. */
interface OpenChat extends Pick<ChatRequest, "stream" | "includeUsage" | "includeProgress"> {
  opened: Opened;
  /** What the response tells. */
  events: AsyncIterable<{ event: ChatEvent }>;
  identity: ChatIdentity;
}

/** By an answer to an approval, it knows who gave that. */
type Approved = Opened & { approver?: Credential };

/** The route's handler. */
export function createChat(
  deps: ChatDeps,
): (request: Request, context: RequestContext) => Promise<Response> {
  return async (request, context) => {
    const chat = await openChat(deps, request, context);
    try {
      return await (chat.stream ? streamChat({ ...deps, ...chat, context }) : wholeChat(chat));
    } catch (error) {
      chat.opened.leave();
      throw error;
    }
  };
}

/** A function of its own, so that body and files are let go before the answer is waited for. */
async function openChat(
  deps: ChatDeps,
  request: Request,
  context: RequestContext,
): Promise<OpenChat> {
  const session = request.headers.get("x-session-id");
  if (bodyType(request) === "multipart/form-data") {
    using form = await deps.bodies.form(request);
    return await openParsed(deps, parseChatForm(form.value, session), request, context);
  }
  using body = await deps.bodies.json(request);
  return await openParsed(deps, parseChatRequest(body.value, session), request, context);
}

async function openParsed(
  deps: ChatDeps,
  { parts, fields, sessionId, answer, ...chat }: ChatRequest,
  request: Request,
  context: RequestContext,
): Promise<OpenChat> {
  const model = deps.model();
  if (chat.model !== undefined) requireModel(model, chat.model);
  const asked = { route: CHAT_ROUTE, sessionId, request, context };
  const isWhole = !chat.stream && !chat.takesApprovals;
  const opened: Approved = answer === undefined
    ? await deps.opener.open({ ...asked, parts, fields, isWhole })
    : await deps.approvals.answer(answer, asked);
  const { id, acceptedAt } = opened.answer;
  const identity = {
    id: `chatcmpl-${answer?.id ?? id}`,
    created: Math.floor(acceptedAt / 1000),
    model: model.id,
  };
  return { ...chat, opened, events: eventsOf(deps, opened, chat, answer?.id), identity };
}

/** The events of the response: all of the turn, but for clients that answer approvals. */
function eventsOf(
  { approvals }: ChatDeps,
  { answer, turn, signal, approver }: Approved,
  { stream, takesApprovals }: Pick<ChatRequest, "stream" | "takesApprovals">,
  after: string | undefined,
): OpenChat["events"] {
  const events = answer.events(signal, { patient: !stream });
  if (turn === undefined || !takesApprovals && after === undefined) return events;
  return chatSegment(events, {
    after,
    ask: async (approval) => takesApprovals && await approvals.offer(turn, approval, approver),
  });
}

async function wholeChat({ opened, events, identity }: OpenChat): Promise<Response> {
  const completion = new ChatCompletion();
  for await (const { event } of events) completion.add(event);
  if (!completion.ended) {
    throw new ServiceError("internal", "The events of the turn broke off before its end");
  }
  opened.leave();
  if (completion.failure !== undefined) throw fromErrorData(completion.failure);
  return new Response(completion.toJson(identity), {
    headers: { "content-type": "application/json" },
  });
}
