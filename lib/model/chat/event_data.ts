/**
 * The data of server-sent events (HTML standard, 9.2.6) as it comes in pieces that end anywhere. Nothing
 * else of an event is of use here. One that the end of the stream cut off is none.
 *
 * @module
 */

/** Reads one stream. */
export class EventData {
  readonly #take: (data: string) => void;
  readonly #decoder = new TextDecoder();
  /** A line that is not whole yet. */
  #rest = "";
  #data: string | undefined;

  /** `take` is given the data of each event. What it throws comes through. */
  constructor(take: (data: string) => void) {
    this.#take = take;
  }

  push(bytes: Uint8Array): void {
    let text = this.#rest + this.#decoder.decode(bytes, { stream: true });
    if (text.includes("\r")) {
      // The line feed that belongs to the last one may be in the next piece.
      const end = text.endsWith("\r") ? text.length - 1 : text.length;
      const held = text.slice(end);
      text = text.slice(0, end).replace(/\r\n?/g, "\n") + held;
    }
    let at = 0;
    for (let end; (end = text.indexOf("\n", at)) >= 0; at = end + 1) this.#line(text, at, end);
    this.#rest = text.slice(at);
  }

  #line(text: string, from: number, to: number): void {
    if (from === to) {
      const data = this.#data;
      this.#data = undefined;
      if (data !== undefined && data !== "") this.#take(data);
      return;
    }
    if (!text.startsWith("data", from)) return;
    let at = from + 4;
    if (at < to) {
      if (text[at] !== ":") return;
      at += text[at + 1] === " " ? 2 : 1;
    }
    const data = text.slice(at, to);
    this.#data = this.#data === undefined ? data : `${this.#data}\n${data}`;
  }
}
