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
          yield said.take(events);
        }
      } catch (error) {
        yield said.rest();
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
  #out: ModelEvent[] = [];

  constructor(scrubber: Scrubber) {
    this.#scrubber = scrubber;
    const say = (event: ModelEvent) => void this.#out.push(event);
    this.#text = new Piecewise(scrubber, "text", say);
    this.#reasoning = new Piecewise(scrubber, "reasoning", say);
  }

  take(events: readonly ModelEvent[]): ModelEvent[] {
    for (const event of events) this.#take(event);
    return this.#taken();
  }

  rest(): ModelEvent[] {
    this.#end();
    return this.#taken();
  }

  #taken(): ModelEvent[] {
    const out = this.#out;
    this.#out = [];
    return out;
  }

  #take(event: ModelEvent): void {
    // A stretch of reasoning ends where something else is said. Text is one whole in an answer.
    if (event.type !== "reasoning" && event.type !== "notice") this.#reasoning.flush();
    switch (event.type) {
      case "text":
        return this.#text.push(event.text);
      case "reasoning":
        return this.#reasoning.push(event.text);
      case "finish": {
        this.#end();
        const { replay, ...rest } = event;
        // Signed words cannot be changed, only left out.
        const isClean = replay !== undefined && this.#scrubber.value(replay) === replay;
        return void this.#out.push(isClean ? event : rest);
      }
      case "call":
      case "notice":
        return void this.#out.push(this.#scrubber.value(event));
      default:
        event satisfies never;
    }
  }

  #end(): void {
    this.#reasoning.rest();
    this.#text.rest();
  }
}

/** The text of one kind of event. */
class Piecewise {
  readonly #pieces: ReturnType<Scrubber["pieces"]>;
  readonly #type: "text" | "reasoning";
  readonly #say: (event: ModelEvent) => void;
  #said = "";

  constructor(
    scrubber: Scrubber,
    type: "text" | "reasoning",
    say: (event: ModelEvent) => void,
  ) {
    this.#type = type;
    this.#say = say;
    this.#pieces = scrubber.pieces((text) => this.#said += text);
  }

  push(text: string): void {
    this.#pieces.push(text);
    this.#tell();
  }

  flush(): void {
    this.#pieces.flush();
    this.#tell();
  }

  rest(): void {
    this.#pieces.end();
    this.#tell();
  }

  #tell(): void {
    const text = this.#said;
    this.#said = "";
    if (text !== "") this.#say({ type: this.#type, text });
  }
}
