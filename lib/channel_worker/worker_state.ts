/**
 * Tells the service how a runtime is: whether it is running, and what it says of itself. A runtime says
 * nothing when `isRunning` changes, so it is looked at; what changes fast is told a few times a second.
 *
 * @module
 */

import type { Clock } from "../base/clock.ts";
import { type ChannelPeer, MAX_DETAIL_CHARS } from "./protocol.ts";
import { Rate } from "../base/rate.ts";

/** Characters of a note, and of a detail that a runtime gives. */
const MAX_NOTE_CHARS = 100;
const MAX_SAID_CHARS = MAX_DETAIL_CHARS - "; ".length - MAX_NOTE_CHARS;

/** How soon a change is seen, milliseconds. */
const LOOK_MS = 250;

/** How often a change is told; the last one always is. */
const TELL_RATE = { perSecond: 20, burst: 100 };

export class WorkerState {
  readonly #notify: ChannelPeer["notify"];
  readonly #clock: Pick<Clock, "after">;
  readonly #rate: Rate;
  #isRunning: () => boolean = () => false;
  #told = false;
  #detail: string | undefined;
  #note = "";
  #toldDetail: string | undefined;

  constructor(
    { notify, clock }: {
      notify: ChannelPeer["notify"];
      clock: Pick<Clock, "after" | "elapsed">;
    },
  ) {
    this.#notify = notify;
    this.#clock = clock;
    this.#rate = new Rate(TELL_RATE, clock);
  }

  setDetail(detail: string): void {
    this.#detail = detail.slice(0, MAX_SAID_CHARS);
  }

  /** Stands behind the detail, whatever that is meanwhile. */
  setNote(note: string): void {
    this.#note = note.slice(0, MAX_NOTE_CHARS);
  }

  /** Looks at a runtime from now on, for as long as the worker is there. */
  follow(isRunning: () => boolean): void {
    this.#isRunning = isRunning;
    const look = () => {
      this.tell();
      this.#clock.after(LOOK_MS, look);
    };
    look();
  }

  /** Tells what has changed; before an answer, so that it is not behind it. */
  tell(): void {
    const isRunning = this.#isRunning();
    if (isRunning !== this.#told && this.#rate.take()) {
      this.#told = isRunning;
      this.#notify("running", isRunning);
    }
    const detail = this.#note === ""
      ? this.#detail
      : [this.#detail ?? "", this.#note].filter((text) => text !== "").join("; ");
    if (detail !== this.#toldDetail && this.#rate.take()) {
      this.#toldDetail = detail;
      this.#notify("detail", detail ?? "");
    }
  }
}
