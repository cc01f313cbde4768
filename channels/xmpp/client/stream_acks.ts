/**
 * Who has had what of a stream, counted by both sides (XEP-0198). The library counts what has come in as
 * handled before anybody has looked at it; here it counts when it is on the disk. Streams are not
 * resumed: what a cut connection has lost is in the archive.
 *
 * @module
 */

import { NS } from "./namespaces.ts";
import { xml, type XmlElement } from "./xmpp_library.ts";

/** Counters go round here (XEP-0198, 4). */
const COUNTER_RANGE = 2 ** 32;

interface Waiting {
  at: number;
  resolve: () => void;
}

/** One for a stream. */
export class StreamAcks {
  readonly #write: (nonza: XmlElement) => void;
  readonly #waiting: Waiting[] = [];
  /** Numbers of stanzas that have come in and are not on the disk yet. */
  readonly #open = new Set<number>();
  #sent = 0;
  #acknowledged = 0;
  #come = 0;
  #isCounting = false;
  #countsIn = false;

  constructor(write: (nonza: XmlElement) => void) {
    this.#write = write;
  }

  /** From the next stanza on what goes out counts; to be called as `enable` is sent. */
  begin(): void {
    this.#isCounting = true;
  }

  /** Whether the other side counts. */
  get isOn(): boolean {
    return this.#countsIn;
  }

  /** A stanza goes out. */
  sent(): void {
    if (this.#isCounting) this.#sent += 1;
  }

  /** The number of the stanza that went out last. */
  get lastSent(): number {
    return this.#sent;
  }

  /** A stanza has come; the function is to be called when it is on the disk. */
  come(): () => void {
    if (!this.#countsIn) return () => {};
    const number = ++this.#come;
    this.#open.add(number);
    return () => void this.#open.delete(number);
  }

  /** Takes what is no stanza. */
  take(nonza: XmlElement): void {
    if (nonza.is("enabled", NS.acks)) this.#countsIn = true;
    else if (nonza.is("r", NS.acks)) this.#answer();
    else if (nonza.is("a", NS.acks)) this.#acknowledge(Number(nonza.attrs.h));
  }

  /** Resolves when the server has a stanza. */
  async taken(number: number): Promise<void> {
    if (number <= this.#acknowledged) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push({ at: number, resolve });
    await promise;
  }

  /** Asks how far the server is. */
  ask(): void {
    if (this.#countsIn) this.#write(xml("r", { xmlns: NS.acks }));
  }

  #answer(): void {
    const first = this.#open.values().next().value;
    const handled = first === undefined ? this.#come : first - 1;
    this.#write(xml("a", { xmlns: NS.acks, h: String(handled % COUNTER_RANGE) }));
  }

  #acknowledge(h: number): void {
    if (!Number.isInteger(h) || h < 0) return;
    const more = (h - this.#acknowledged % COUNTER_RANGE + COUNTER_RANGE) % COUNTER_RANGE;
    // More than was sent is a server that does not count.
    if (this.#acknowledged + more > this.#sent) return;
    this.#acknowledged += more;
    while (this.#waiting.length > 0 && this.#waiting[0]!.at <= this.#acknowledged) {
      this.#waiting.shift()!.resolve();
    }
  }
}
