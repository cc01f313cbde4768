/**
 * Turns over the wire as the chat of this terminal asks for them.
 *
 * @module
 */

import type { StoredEvent } from "../../lib/contract/events.ts";
import { ERROR_CODES, type ErrorCode, ServiceError } from "../../lib/base/errors.ts";
import { isOwn } from "../../lib/contract/text_part.ts";
import type { AskedPart } from "../../lib/local/protocol.ts";
import type { ServerFrame } from "../../lib/contract/wire/frames.ts";
import { type WireClient, WireError } from "../../lib/contract/wire/wire_client.ts";
import { frameEvent } from "./frame_event.ts";
import { Heard } from "./heard.ts";

/** A turn's events that wait to be read. */
class EventQueue {
  readonly chatId: string;
  /** Somebody of this terminal asked for the turn. */
  isRead = false;
  readonly #events: StoredEvent[] = [];
  readonly #heard = new Heard();
  #wake = Promise.withResolvers<void>();
  #error: unknown;

  constructor(chatId: string) {
    this.chatId = chatId;
  }

  add(stored: StoredEvent): void {
    const event = this.#heard.hear(stored.event);
    if (event === undefined) return;
    this.#events.push({ ...stored, event });
    this.#wake.resolve();
  }

  beginAnew(): void {
    this.#heard.beginAnew();
  }

  fail(error: unknown): void {
    this.#error = error;
    this.#wake.resolve();
  }

  async *read(): AsyncGenerator<StoredEvent> {
    for (;;) {
      const event = this.#events.shift();
      if (event !== undefined) {
        yield event;
        if (event.event.type === "turn_end") return;
      } else if (this.#error !== undefined) {
        throw this.#error;
      } else {
        await this.#wake.promise;
        this.#wake = Promise.withResolvers();
      }
    }
  }
}

/** Frames are handed to {@linkcode WireTurns.take}. */
export class WireTurns {
  readonly #client: Pick<WireClient, "send" | "cancel" | "attach">;
  readonly #turns = new Map<string, EventQueue>();
  readonly #attached = new Set<string>();
  /** Sends that do not know their turn yet: what comes meanwhile may be of it. */
  #sending = 0;

  constructor(client: Pick<WireClient, "send" | "cancel" | "attach">) {
    this.#client = client;
  }

  /** The chat is followed already. */
  attached(chatId: string): void {
    this.#attached.add(chatId);
  }

  /** Takes a frame; false when it is of no turn of this terminal. */
  take(frame: ServerFrame): boolean {
    const stored = frameEvent(frame);
    if (stored === undefined || !("chat_id" in frame)) return false;
    let queue = this.#turns.get(stored.turnId);
    if (queue === undefined && this.#sending > 0) {
      queue = new EventQueue(frame.chat_id!);
      this.#turns.set(stored.turnId, queue);
    }
    queue?.add(stored);
    return queue !== undefined;
  }

  /** A chat is told from its first frame again. */
  beginAnew(chatId: string): void {
    for (const queue of this.#turns.values()) if (queue.chatId === chatId) queue.beginAnew();
  }

  /** Nothing more comes of a chat, or without one of any. */
  fail(error: unknown, chatId?: string): void {
    if (chatId !== undefined) this.#attached.delete(chatId);
    for (const queue of this.#turns.values()) {
      if (chatId === undefined || queue.chatId === chatId) queue.fail(refusal(error));
    }
  }

  /** One message and the events of its turn. An abort cancels it, and its end is still read. */
  async *turn(chatId: string, input: AskedPart[], signal?: AbortSignal) {
    if (!this.#attached.has(chatId)) {
      await this.#client.attach(chatId).catch(rethrow);
      this.attached(chatId);
    }
    const claimed = await this.#send(chatId, input);
    if (typeof claimed === "string") return yield* answered(claimed);
    const [turnId, queue] = claimed;
    const cancel = () => this.#client.cancel(chatId);
    if (signal?.aborted) cancel();
    signal?.addEventListener("abort", cancel);
    try {
      yield* queue.read();
    } finally {
      signal?.removeEventListener("abort", cancel);
      this.#turns.delete(turnId);
    }
  }

  /** The turn of a message, or the answer to a command. */
  async #send(chatId: string, input: AskedPart[]): Promise<[string, EventQueue] | string> {
    const isTyped = (part: AskedPart) => part.type === "text" && isOwn(part);
    const text = input.flatMap((part) => part.type === "text" && isOwn(part) ? [part.text] : [])
      .join("\n\n");
    // On this wire a text is in the sender's own words; any other goes as a file.
    const media = input.filter((part) => !isTyped(part)).map((part) => {
      const [data, name] = part.type === "file"
        ? [part.data, part.name]
        : [new TextEncoder().encode(part.text).toBase64(), `${part.from ?? "text"}.txt`];
      return { data_url: `data:application/octet-stream;base64,${data}`, name };
    });
    this.#sending += 1;
    try {
      const outcome = await this.#client.send(chatId, text, media.length === 0 ? {} : { media })
        .catch(rethrow);
      if ("answer" in outcome) return outcome.answer;
      const { turnId } = outcome;
      const queue = this.#turns.get(turnId) ?? new EventQueue(chatId);
      this.#turns.set(turnId, queue);
      queue.isRead = true;
      return [turnId, queue];
    } finally {
      this.#sending -= 1;
      if (this.#sending === 0) this.#forgetOthers();
    }
  }

  /** Turns that others asked for are read by nobody here. */
  #forgetOthers(): void {
    for (const [id, { isRead }] of this.#turns) if (!isRead) this.#turns.delete(id);
  }
}

/** The answer to a command, which is no turn. */
function* answered(text: string): Generator<StoredEvent> {
  const streamId = "1";
  const usage = { inputTokens: 0, outputTokens: 0, reasoningTokens: 0, cachedTokens: 0 };
  const events: StoredEvent["event"][] = [
    { type: "text_delta", streamId, text },
    { type: "segment_end", streamId, resuming: false },
    { type: "turn_end", status: "done", finishReason: "stop", usage },
  ];
  for (const [at, event] of events.entries()) yield { seq: at + 1, turnId: "", event };
}

/** A refusal of the server as this program knows errors. */
export function refusal(error: unknown): unknown {
  if (!(error instanceof WireError)) return error;
  const isKnown = (code: string): code is ErrorCode =>
    (ERROR_CODES as readonly string[]).includes(code);
  return new ServiceError(isKnown(error.code) ? error.code : "invalid_request", error.message);
}

function rethrow(error: unknown): never {
  throw refusal(error);
}
