/**
 * A model whose words hold no value of a secret, in whatever pieces they come.
 *
 * It stands between models and the agent, so that what is streamed, what is kept and what tools are
 * called with are one and the same text.
 *
 * @module
 */

import { ServiceError } from "../base/errors.ts";
import type { Model, ModelEvent, ModelRequest } from "../model/port.ts";
import type { PromptMessage } from "../contract/messages.ts";
import type { Scrubber } from "../secrets/scrubber.ts";

/** The model, scrubbed. What the provider wants back is left out when it holds a secret. */
export function scrubbedModel(model: Model, scrubber: Scrubber): Model {
  return {
    name: model.name,
    contextTokens: model.contextTokens,
    async *stream(request) {
      const said = new Said(scrubber);
      try {
        const asked = scrubbedRequest(request, scrubber);
        for await (const events of model.stream(asked)) {
          yield events.flatMap((event) => [...said.take(event)]);
        }
      } catch (error) {
        yield [...said.rest()];
        throw scrubbedError(error, scrubber);
      }
    },
  };
}

/** What is older than a secret, and so was kept with it, is not sent again. */
function scrubbedRequest(request: ModelRequest, { text, value }: Scrubber): ModelRequest {
  const messages = request.messages.map((message): PromptMessage => {
    switch (message.role) {
      case "user":
        return {
          role: "user",
          parts: message.parts.map((part) =>
            part.type === "text" ? { type: "text", text: text(part.text) } : part
          ),
        };
      case "assistant": {
        const { replay, ...rest } = message;
        return { ...value(rest), ...replay !== undefined && { replay } };
      }
      case "tool":
      case "summary":
        return value(message);
    }
  });
  return { ...request, system: text(request.system), messages };
}

/** The error with a message that holds no secret; others than ServiceErrors show none of theirs. */
export function scrubbedError(error: unknown, scrubber: Pick<Scrubber, "text" | "value">): unknown {
  if (!(error instanceof ServiceError)) return error;
  const message = scrubber.text(error.message);
  const details = scrubber.value(error.details);
  if (message === error.message && details === error.details) return error;
  return new ServiceError(error.code, message, details, { cause: error.cause });
}

/** What one answer says: two streams, and what stands for itself. */
class Said {
  readonly #scrubber: Scrubber;
  readonly #text: Piecewise;
  readonly #reasoning: Piecewise;

  constructor(scrubber: Scrubber) {
    this.#scrubber = scrubber;
    this.#text = new Piecewise(scrubber, "text");
    this.#reasoning = new Piecewise(scrubber, "reasoning");
  }

  *take(event: ModelEvent): Iterable<ModelEvent> {
    // A stretch of reasoning ends where something else is said. Text is one whole in an answer.
    if (event.type !== "reasoning" && event.type !== "notice") yield* this.#reasoning.flush();
    switch (event.type) {
      case "text":
        yield* this.#text.push(event.text);
        break;
      case "reasoning":
        yield* this.#reasoning.push(event.text);
        break;
      case "finish": {
        yield* this.rest();
        const { replay, ...rest } = event;
        // Signed words cannot be changed, only left out.
        const isClean = replay !== undefined && this.#scrubber.value(replay) === replay;
        yield isClean ? event : rest;
        break;
      }
      case "call":
      case "notice":
        yield this.#scrubber.value(event);
        break;
      default:
        event satisfies never;
    }
  }

  *rest(): Iterable<ModelEvent> {
    yield* this.#reasoning.rest();
    yield* this.#text.rest();
  }
}

/** The text of one kind of event. */
class Piecewise {
  readonly #pieces: ReturnType<Scrubber["pieces"]>;
  readonly #type: "text" | "reasoning";
  #said = "";

  constructor(scrubber: Scrubber, type: "text" | "reasoning") {
    this.#type = type;
    this.#pieces = scrubber.pieces((text) => this.#said += text);
  }

  *push(text: string): Iterable<ModelEvent> {
    this.#pieces.push(text);
    yield* this.#take();
  }

  *flush(): Iterable<ModelEvent> {
    this.#pieces.flush();
    yield* this.#take();
  }

  *rest(): Iterable<ModelEvent> {
    this.#pieces.end();
    yield* this.#take();
  }

  *#take(): Iterable<ModelEvent> {
    const text = this.#said;
    this.#said = "";
    if (text !== "") yield { type: this.#type, text };
  }
}
