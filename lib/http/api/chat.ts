/**
 * POST /v1/chat/completions: the chat wire shape of a turn (document 1 part 4, decisions B).
 *
 * @module
 */

import type { Clock } from "../../agent/clock.ts";
import type { TurnHandle, Turns } from "../../agent/turns.ts";
import { fromErrorData, ServiceError } from "../../errors.ts";
import { readJson } from "../body.ts";
import { bodyType } from "../guard.ts";
import { ChatCompletion } from "./chat_completion.ts";
import { parseChatRequest } from "./chat_request.ts";
import { streamChat } from "./chat_stream.ts";
import type { ChatIdentity } from "./chat_text.ts";
import { type ApiModel, requireModel } from "./models.ts";
import type { OpenStreams } from "./open_streams.ts";
import type { RequestContext } from "./request_context.ts";
import { turnInput } from "./tail.ts";

/** Bounds of a JSON body: 64 MiB of files are 86 MiB of base64. */
const BODY_LIMITS = { maxBytes: 90 * 1024 * 1024, timeoutMs: 300_000 };

/** What the route needs. */
export interface ChatDeps {
  turns: Turns;
  model: () => ApiModel;
  /** Of the configuration's section `api`. */
  config: { readonly attended: boolean; readonly timeoutS: number };
  /** Who opens the turns, such as `api:anonymous`. */
  actor: string;
  streams: OpenStreams;
  clock: Clock;
}

/** The route's handler. */
export function createChat(
  deps: ChatDeps,
): (request: Request, context: RequestContext) => Promise<Response> {
  return async (request, context) => {
    if (bodyType(request) !== "application/json") {
      throw new ServiceError("unsupported_media_type", "This route takes application/json", {
        param: "Content-Type",
      });
    }
    const body = await readJson(request, BODY_LIMITS, deps.clock);
    const chat = parseChatRequest(body, request.headers.get("x-session-id"));
    const model = deps.model();
    if (chat.model !== undefined) requireModel(model, chat.model);
    const handle = await deps.turns.submit({
      sessionKey: `api:${chat.sessionId}`,
      channel: "api",
      actor: deps.actor,
      input: turnInput(chat.messages),
      durable: false,
      attended: deps.config.attended,
      timeoutMs: deps.config.timeoutS * 1000,
    });
    context.accepted = true;
    const reading = new AbortController();
    cancelWhenGone(request.signal, handle, reading);
    const identity: ChatIdentity = {
      id: `chatcmpl-${handle.turn.id}`,
      created: Math.floor(handle.turn.acceptedAt / 1000),
      model: model.id,
    };
    try {
      return await (chat.stream
        ? streamChat({ ...deps, ...chat, handle, identity, context, reading })
        : wholeChat(handle, identity, reading.signal));
    } catch (error) {
      handle.cancel();
      throw error;
    }
  };
}

/** A foreground turn ends with its client, in whatever phase it is. */
function cancelWhenGone(signal: AbortSignal, handle: TurnHandle, reading: AbortController): void {
  const cancel = () => {
    handle.cancel();
    reading.abort();
  };
  if (signal.aborted) cancel();
  else signal.addEventListener("abort", cancel, { once: true });
}

async function wholeChat(
  handle: TurnHandle,
  identity: ChatIdentity,
  signal: AbortSignal,
): Promise<Response> {
  const completion = new ChatCompletion();
  for await (const { event } of handle.events(signal)) completion.add(event);
  if (!completion.ended) {
    throw new ServiceError("internal", "The events of the turn broke off before its end");
  }
  if (completion.failure !== undefined) throw fromErrorData(completion.failure);
  return new Response(completion.toJson(identity), {
    headers: { "content-type": "application/json" },
  });
}
