/**
 * The items of a response, put together from the deltas of a turn.
 *
 * An item's last events say whether it is whole, so they wait for what tells that: the turn began
 * anew, or failed, right after the item's stream was closed (it was cut off); the turn ended at the
 * model's output limit (its last text is not whole); anything else (it is).
 *
 * @module
 */

import type { AgentEvent } from "../../../agent/events.ts";
import { type OpenItem, openMessage, openReasoning } from "./output_item.ts";
import type { ResponseEventBody } from "./response_event.ts";
import type { OutputItem } from "./response_object.ts";

/** An item whose stream is closed, its last events not sent yet. */
interface ClosedItem {
  entry: Entry;
  /** The model call that said it was counted, so it came to its own end. */
  isWhole: boolean;
}

interface Entry {
  open: OpenItem;
  index: number;
  kind: "message" | "reasoning";
}

/** The items. Pure: what they say depends on the turn's events alone. */
export class ResponseOutput {
  readonly #turnId: string;
  readonly #items: OutputItem[] = [];
  readonly #open = new Map<string, Entry>();
  #closed: ClosedItem[] = [];
  #begun = 0;
  #messages = 0;

  constructor(turnId: string) {
    this.#turnId = turnId;
  }

  /** The items; all of them are there once the turn has ended. */
  get items(): OutputItem[] {
    return this.#items;
  }

  /** Takes an event of the turn in and says what it means for the items. */
  take(event: AgentEvent): ResponseEventBody[] {
    switch (event.type) {
      case "text_delta":
        return [...this.#settle(), ...this.#say("message", event.streamId, event.text)];
      case "reasoning_delta":
        return [...this.#settle(), ...this.#say("reasoning", event.streamId, event.text)];
      case "segment_end":
        this.#close("message", event.streamId);
        return [];
      case "reasoning_end":
        this.#close("reasoning", event.streamId);
        return [];
      case "usage":
        for (const closed of this.#closed) closed.isWhole = true;
        return [];
      case "error":
        return [];
      case "turn_start":
        return this.cutOff();
      case "turn_end":
        if (event.status !== "done") return this.cutOff();
        return [...this.#settle(event.finishReason === "length"), ...this.cutOff()];
      case "tool_call":
      case "tool_progress":
      case "tool_result":
      case "notice":
      case "summary":
        return this.#settle();
    }
  }

  /** Ends what is closed and what is open: what did not come to its own end is incomplete. */
  cutOff(): ResponseEventBody[] {
    const closed = this.#closed;
    this.#closed = [];
    const open = [...this.#open.values()];
    this.#open.clear();
    return [
      ...closed.flatMap(({ entry, isWhole }) =>
        this.#end(entry, isWhole ? "completed" : "incomplete")
      ),
      ...open.flatMap((entry) => this.#end(entry, "incomplete")),
    ];
  }

  #say(kind: Entry["kind"], streamId: string, text: string): ResponseEventBody[] {
    const key = keyOf(kind, streamId);
    const known = this.#open.get(key);
    if (known !== undefined) return [known.open.say(text)];
    const index = this.#begun++;
    const open = (kind === "message" ? openMessage : openReasoning)(this.#turnId, index);
    this.#open.set(key, { open, index, kind });
    // So that the texts of all messages, put together, read like the answer on the chat route.
    const first = kind === "message" && this.#messages++ > 0 ? `\n\n${text}` : text;
    return [...open.begin(), open.say(first)];
  }

  #close(kind: Entry["kind"], streamId: string): void {
    const key = keyOf(kind, streamId);
    const entry = this.#open.get(key);
    if (entry === undefined) return;
    this.#open.delete(key);
    this.#closed.push({ entry, isWhole: false });
  }

  /** Ends what is closed, as whole; with `atLimit` the last text is not. */
  #settle(atLimit = false): ResponseEventBody[] {
    if (this.#closed.length === 0) return [];
    const closed = this.#closed;
    this.#closed = [];
    const last = atLimit ? closed.findLast(({ entry }) => entry.kind === "message") : undefined;
    return closed.flatMap((one) => this.#end(one.entry, one === last ? "incomplete" : "completed"));
  }

  #end({ open, index }: Entry, status: "completed" | "incomplete"): ResponseEventBody[] {
    const { item, events } = open.end(status);
    this.#items[index] = item;
    return events;
  }
}

function keyOf(kind: Entry["kind"], streamId: string): string {
  return `${kind} ${streamId}`;
}
