/**
 * What a person has denied in a session stays denied until an operator clears it.
 *
 * @module
 */

import { z } from "zod";
import { ServiceError } from "../base/errors.ts";
import { CAPABILITIES, type Capability } from "../contract/actions.ts";
import type { Latch } from "../contract/credentials.ts";
import { type Damaged, damagedError, isDamaged } from "./damaged.ts";
import type { SealedFile } from "./sealed_file.ts";

/**
 * The latches of a home. They outlive restarts (spec 5, G10). Changes leave their own records to the
 * audit.
 */
export interface LatchStore {
  /**
   * Whether a capability is denied in a session. Damaged state answers so: what would be asked has
   * then to be refused (spec 5, G11). Takes no disk access but a stat.
   */
  find(sessionKey: string, capability: Capability): Latch | Damaged | undefined;
  /**
   * Holds at once in this process, also when it rejects because the disk did not take it. The first
   * denial's time and words stay.
   */
  set(latch: Pick<Latch, "sessionKey" | "capability" | "reason">): Promise<Latch>;
  /** Oldest first. Throws `refused` when the state is damaged. */
  list(): Latch[];
  /** False when there was none. */
  clear(sessionKey: string, capability: Capability): Promise<boolean>;
  /** Why nothing can be read, for people. */
  damaged(): string | undefined;
  /** Sets a damaged file aside; nothing is denied then. False when it is not damaged. */
  reset(): Promise<boolean>;
  /** Tries once more to write what the disk did not take. */
  close(): Promise<void>;
}

/** Latches that may hold at once. */
const MAX_LATCHES = 10_000;

/** Characters of a denial's words that are kept. */
const MAX_REASON_CHARS = 1_000;

const latchesSchema = z.array(z.strictObject({
  sessionKey: z.string(),
  capability: z.enum(CAPABILITIES),
  since: z.number(),
  reason: z.string(),
}));

/** What the file of latches holds. */
export const parseLatches = (value: unknown): readonly Latch[] => latchesSchema.parse(value);

/** What a {@linkcode LatchStore} is made of. */
export interface LatchStoreDeps {
  file: SealedFile<readonly Latch[]>;
  /** What an operator types to set a damaged file aside. */
  repair: string;
  now: () => number;
}

/** Keeps latches in a file. */
export function createLatchStore(deps: LatchStoreDeps): LatchStore {
  return new FileLatchStore(deps);
}

class FileLatchStore implements LatchStore {
  readonly #deps: LatchStoreDeps;
  /** Latches by session and capability, of the value that is there now. */
  #index: { of: readonly Latch[]; byKey: Map<string, Latch> } | undefined;
  /** Those that the disk did not take, or not yet. */
  readonly #unsaved = new Map<string, Latch>();
  /** A denial came that nothing could keep: from now on everything counts as denied. */
  #overflow = false;

  constructor(deps: LatchStoreDeps) {
    this.#deps = deps;
  }

  find(sessionKey: string, capability: Capability): Latch | Damaged | undefined {
    const key = keyOf({ sessionKey, capability });
    const unsaved = this.#unsaved.get(key);
    if (unsaved !== undefined) return { ...unsaved };
    const state = this.#read();
    if (isDamaged(state)) return state;
    if (this.#index?.of !== state.value) {
      this.#index = {
        of: state.value,
        byKey: new Map(state.value.map((each) => [keyOf(each), each])),
      };
    }
    const found = this.#index.byKey.get(key);
    return found === undefined ? undefined : { ...found };
  }

  async set(
    { sessionKey, capability, reason }: Pick<Latch, "sessionKey" | "capability" | "reason">,
  ): Promise<Latch> {
    const words = reason.slice(0, MAX_REASON_CHARS);
    const latch: Latch = { sessionKey, capability, since: this.#deps.now(), reason: words };
    const key = keyOf(latch);
    if (!this.#unsaved.has(key)) {
      if (this.#unsaved.size < MAX_LATCHES) this.#unsaved.set(key, latch);
      else this.#overflow = true;
    }
    const saved = await this.#save(this.#unsaved.get(key) ?? latch);
    this.#unsaved.delete(key);
    return saved;
  }

  list(): Latch[] {
    const state = this.#read();
    if (isDamaged(state)) throw damagedError(state, this.#deps.repair);
    const saved = new Set(state.value.map(keyOf));
    const unsaved = [...this.#unsaved.values()].filter((each) => !saved.has(keyOf(each)));
    return [...state.value, ...unsaved].map((each) => ({ ...each }))
      .sort((a, b) => a.since - b.since);
  }

  async clear(sessionKey: string, capability: Capability): Promise<boolean> {
    const key = keyOf({ sessionKey, capability });
    const cleared = await this.#deps.file.update((all) => {
      const found = all.find((each) => keyOf(each) === key) ?? this.#unsaved.get(key);
      if (found === undefined) return { result: false };
      const data = { session: sessionKey, capability, since: found.since, reason: found.reason };
      return {
        value: all.filter((each) => keyOf(each) !== key),
        records: [{ kind: "latch.cleared", data }],
        result: true,
      };
    });
    this.#unsaved.delete(key);
    return cleared;
  }

  damaged(): string | undefined {
    const state = this.#read();
    return isDamaged(state) ? state.damaged : undefined;
  }

  /** What was denied since the damage, in this process, stays denied. */
  async reset(): Promise<boolean> {
    const wasReset = await this.#deps.file.reset() || this.#overflow;
    this.#overflow = false;
    await this.#saveUnsaved();
    return wasReset;
  }

  async close(): Promise<void> {
    if (this.#unsaved.size > 0) await this.#saveUnsaved().catch(() => {});
  }

  async #saveUnsaved(): Promise<void> {
    for (const [key, latch] of [...this.#unsaved]) {
      await this.#save(latch);
      this.#unsaved.delete(key);
    }
  }

  #read(): { value: readonly Latch[] } | Damaged {
    if (!this.#overflow) return this.#deps.file.read();
    return { damaged: `More than ${MAX_LATCHES} denials could not be kept` };
  }

  async #save(latch: Latch): Promise<Latch> {
    const { sessionKey, capability, since, reason } = latch;
    return await this.#deps.file.update((all) => {
      const same = all.find((each) => keyOf(each) === keyOf(latch));
      if (same !== undefined) return { result: { ...same } };
      if (all.length >= MAX_LATCHES) {
        throw new ServiceError(
          "overloaded",
          `${MAX_LATCHES} denials are kept already; clear some with: service blocks`,
        );
      }
      return {
        value: [...all, latch],
        records: [{ kind: "latch.set", data: { session: sessionKey, capability, since, reason } }],
        result: { ...latch },
      };
    });
  }
}

/** No two different latches have the same one: the parts are JSON. */
function keyOf({ sessionKey, capability }: Pick<Latch, "sessionKey" | "capability">): string {
  return JSON.stringify([sessionKey, capability]);
}
