/**
 * What was read of a turn, so that a chat that is told from its begin again, as after an unclean end of
 * the service, says nothing of the turn twice.
 *
 * @module
 */

import type { AgentEvent } from "../../lib/contract/events.ts";

/** What was said in one stream. */
interface Stream {
  text: string;
  /** How much of it has come since the last begin. */
  at: number;
}

export class Heard {
  readonly #streams = new Map<string, Stream>();
  /** All else that happened, in order. */
  readonly #others: string[] = [];
  #at = 0;

  /** The turn is told from its begin. */
  beginAnew(): void {
    this.#at = 0;
    for (const stream of this.#streams.values()) stream.at = 0;
  }

  /** What of an event is new; undefined for nothing. Pieces of a text may be cut elsewhere than before. */
  hear(event: AgentEvent): AgentEvent | undefined {
    if (event.type === "text_delta" || event.type === "reasoning_delta") {
      const text = this.#hearText(`${event.type} ${event.streamId}`, event.text);
      return text === "" ? undefined : { ...event, text };
    }
    const told = JSON.stringify(event);
    if (this.#others[this.#at] === told) {
      this.#at++;
      return undefined;
    }
    // It went another way than it was told first.
    this.#others.length = this.#at;
    this.#at = this.#others.push(told);
    return event;
  }

  #hearText(key: string, text: string): string {
    let stream = this.#streams.get(key);
    if (stream === undefined) this.#streams.set(key, stream = { text: "", at: 0 });
    const known = stream.text.slice(stream.at, stream.at + text.length);
    const isKnown = text.startsWith(known);
    if (!isKnown || stream.at + text.length > stream.text.length) {
      stream.text = stream.text.slice(0, stream.at) + text;
    }
    stream.at += text.length;
    return isKnown ? text.slice(known.length) : text;
  }
}
