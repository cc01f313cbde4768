/**
 * The items of a response, put together from the deltas of a turn.
 *
 * The last events of an item say whether it is whole, which the end of its stream does not tell: a
 * crash ends streams too, and so does a failure. So they wait for the next event. A model call that
 * came to its own end is counted or makes its tool calls; one that was cut off is not, and the turn
 * fails or says something else.
 *
 * @module
 */

import type { AgentEvent } from "../../../contract/events.ts";
import { type OpenItem, openMessage, openReasoning } from "./output_item.ts";
import type { ResponseEventBody } from "./response_event.ts";
import type { OutputItem } from "./response_object.ts";

type Kind = "message" | "reasoning";

/** An item whose last events were not given yet. */
interface Entry {
  kind: Kind;
  index: number;
  open: OpenItem;
  /** Its stream has ended, and the model call that said it was counted. */
  isWhole: boolean;
}

/** The items. What they say depends on the turn's events alone. */
export class ResponseOutput {
  readonly #turnId: string;
  readonly #items: OutputItem[] = [];
  readonly #open = new Map<string, Entry>();
  /** Those whose streams have ended. */
  #closed: Entry[] = [];
  #begun = 0;
  #messages = 0;

  constructor(turnId: string) {
    this.#turnId = turnId;
  }

  /** The items, in the order in which they began; complete once the turn has ended. */
  get items(): OutputItem[] {
    return this.#items;
  }

  /** Takes an event of the turn in and says what it means for the items. */
  take(event: AgentEvent): ResponseEventBody[] {
    switch (event.type) {
      case "text_delta":
        // Text is what reasoning leads to.
        if (this.#closed.every(({ kind }) => kind === "reasoning")) this.#countClosed();
        return [...this.#endClosed(), ...this.#say("message", event)];
      case "reasoning_delta":
        return [...this.#endClosed(), ...this.#say("reasoning", event)];
      case "segment_end":
        this.#close("message", event.streamId);
        return [];
      case "reasoning_end":
        this.#close("reasoning", event.streamId);
        return [];
      case "usage":
        this.#countClosed();
        return [];
      case "tool_call":
      case "tool_progress":
      case "tool_result":
      case "approval_requested":
      case "approval_resolved":
        this.#countClosed();
        return this.#endClosed();
      case "notice":
      case "summary":
        return this.#endClosed();
      case "error":
      case "files":
      case "session_updated":
      case "message":
        return [];
      case "turn_start":
        return this.cutOff();
      case "turn_end":
        if (event.status === "done") {
          this.#countClosed();
          if (event.finishReason === "length") this.#cutLastText();
        }
        return this.cutOff();
    }
  }

  /** Ends every item; those that did not come to their own end are incomplete. */
  cutOff(): ResponseEventBody[] {
    for (const entry of this.#open.values()) this.#closed.push(entry);
    this.#open.clear();
    return this.#endClosed();
  }

  #say(
    kind: Kind,
    { streamId, text }: { streamId: string; text: string },
  ): ResponseEventBody[] {
    const key = keyOf(kind, streamId);
    const known = this.#open.get(key);
    if (known !== undefined) return [known.open.say(text)];
    const index = this.#begun++;
    const open = (kind === "message" ? openMessage : openReasoning)(this.#turnId, index);
    this.#open.set(key, { kind, index, open, isWhole: false });
    // So that the texts of all messages, put together, read like the answer on the chat route.
    const first = kind === "message" && this.#messages++ > 0 ? `\n\n${text}` : text;
    return [...open.begin(), open.say(first)];
  }

  #close(kind: Kind, streamId: string): void {
    const key = keyOf(kind, streamId);
    const entry = this.#open.get(key);
    if (entry === undefined) return;
    this.#open.delete(key);
    this.#closed.push(entry);
  }

  #countClosed(): void {
    for (const entry of this.#closed) entry.isWhole = true;
  }

  /** The model reached its output limit in its last text. */
  #cutLastText(): void {
    const last = this.#closed.findLast(({ kind }) => kind === "message");
    if (last !== undefined) last.isWhole = false;
  }

  #endClosed(): ResponseEventBody[] {
    if (this.#closed.length === 0) return [];
    const closed = this.#closed;
    this.#closed = [];
    return closed.flatMap(({ index, open, isWhole }) => {
      const { item, events } = open.end(isWhole ? "completed" : "incomplete");
      this.#items[index] = item;
      return events;
    });
  }
}

function keyOf(kind: Kind, streamId: string): string {
  return `${kind} ${streamId}`;
}
