/**
 * The answers beside conversations that are open, within bounds.
 *
 * @module
 */

import { ServiceError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { Model } from "../model/port.ts";
import { Aside } from "./aside.ts";
import type { Clock } from "../base/clock.ts";
import type { LifeLimits } from "../contract/life.ts";
import { promptParts } from "./load_messages.ts";
import type { InputPart } from "../contract/messages.ts";
import { inputChars, type Room } from "./room.ts";

/** Asides at the same time. */
const MAX_ASIDES = 64;

/** What asides share. */
export interface AsidesDeps {
  models: {
    /** Read for each, so that it may change. */
    readonly default: Model;
  };
  /** Shared with the turns that wait or run. */
  room: Room;
  clock: Clock;
  log: Pick<Log, "warning">;
  randomId: () => string;
}

/** Opens asides. */
export class Asides {
  readonly #deps: AsidesDeps;
  readonly #open = new Set<Aside>();

  constructor(deps: AsidesDeps) {
    this.#deps = deps;
  }

  /** How many are open. */
  get size(): number {
    return this.#open.size;
  }

  /** Opens one. Throws `queue_full`. */
  open(input: readonly InputPart[], limits: LifeLimits): Aside {
    const { models, room, clock, log, randomId } = this.#deps;
    const leaveRoom = this.size < MAX_ASIDES ? room.take(inputChars(input)) : undefined;
    if (leaveRoom === undefined) {
      throw new ServiceError(
        "queue_full",
        `Too many answers beside conversations are open, or too large ones: at most ${MAX_ASIDES} may be`,
        { retryAfterS: 1 },
      );
    }
    const aside: Aside = new Aside({
      id: randomId(),
      model: models.default,
      parts: promptParts(input),
      limits,
      clock,
      log,
      onEnd: () => {
        this.#open.delete(aside);
        leaveRoom();
      },
    });
    this.#open.add(aside);
    return aside;
  }

  /** The service stops under those that are open. */
  interrupt(): void {
    for (const aside of this.#open) aside.interrupt();
  }

  /** Resolves when those that are open now have ended. */
  async idle(): Promise<void> {
    await Promise.all([...this.#open].map(({ ended }) => ended));
  }
}
