/**
 * The wire of OpenAI's chat completions, as most model servers speak it.
 *
 * The package for it passes every token through four streams, a promise for each and a check of its whole
 * shape; this reads what came at once, and looks at no more than what it takes. What must stay true: an
 * answer says the same as the package's would, in order and in its errors (`chat_wire_test.ts` runs both
 * over the same servers).
 *
 * @module
 */

import { AnswerReader } from "../answer_reader.ts";
import type { BodyReader } from "../body_reader.ts";
import type { ModelEvent, ModelRequest } from "../port.ts";
import { type ErrorOrigin, notJson, refused } from "../provider_error.ts";
import { createProviderAsk, lowerCased } from "../provider_fetch.ts";
import { hasCall, type Wire, type WireDeps } from "../wire.ts";
import { ChatAnswer } from "./chat_answer.ts";
import { ChatBodies } from "./chat_bodies.ts";
import { EventData } from "./event_data.ts";

/** Speaks it. */
export function createChatWire({ origin, id, settings, fetch }: WireDeps): Wire {
  const { spec } = origin;
  const ask = createProviderAsk({ spec, fetch });
  const bodies = new ChatBodies({ id, name: origin.model, settings });
  const url = new URL(spec.baseUrl);
  url.pathname = `${url.pathname.replace(/\/$/, "")}/chat/completions`;
  const headers = {
    "content-type": "application/json",
    ...spec.apiKey !== "" && { authorization: `Bearer ${spec.apiKey}` },
    ...lowerCased(spec.headers),
  };

  return async function* (request: ModelRequest): AsyncGenerator<readonly ModelEvent[]> {
    const { ok, status, headers: answered, body } = await ask(url.href, {
      method: "POST",
      headers,
      body: bodies.of(request),
      signal: request.signal,
    });
    if (!ok) throw refused({ status, headers: answered, body: await textOf(body) }, origin);
    const reader = new AnswerReader({
      origin,
      thinkTags: true,
      idTaken: (callId) => hasCall(request, callId),
    });
    let said: ModelEvent[] = [];
    const takeSaid = () => {
      const events = said;
      said = [];
      return events;
    };
    const answer = new ChatAnswer(origin, (part) => said.push(...reader.read(part)));
    const data = new EventData((text) => {
      if (text !== "[DONE]") answer.push(parsed(text, origin));
    });
    try {
      for (let read; body !== undefined && !(read = await body.read()).done;) {
        data.push(read.value!);
        if (said.length > 0) yield takeSaid();
      }
      answer.end();
      if (said.at(-1)?.type !== "finish") throw reader.broken();
    } catch (error) {
      // What came before it was said.
      if (said.length > 0) yield takeSaid();
      throw error;
    }
    yield said;
  };
}

async function textOf(body: BodyReader | undefined): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for (let read; body !== undefined && !(read = await body.read()).done;) {
    text += decoder.decode(read.value, { stream: true });
  }
  return text + decoder.decode();
}

function parsed(text: string, origin: ErrorOrigin): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw notJson(origin, error);
  }
}
