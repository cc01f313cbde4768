/**
 * Standing grants on the disk (decisions E2, E10).
 *
 * @module
 */

import { z } from "zod";
import { ServiceError } from "../../errors.ts";
import { CAPABILITIES, type Capability } from "../actions.ts";
import { checkGrant, type Grant, type GrantFields } from "./grants.ts";
import { newId } from "../new_id.ts";
import { damagedError, isDamaged } from "./damaged.ts";
import type { SealedFile } from "./sealed_file.ts";

/** The grants of a home. Changes leave their own records to the audit. */
export interface GrantStore {
  /** The grant that holds exactly; none while the state is damaged. Takes no disk access but a stat. */
  find(subject: string, capability: Capability, target: string): Grant | undefined;
  /** Oldest first. Throws `refused` when the state is damaged. */
  list(): Grant[];
  /** Rejects with `invalid_request` for what is no grant, naming the field. Adding twice adds once. */
  add(grant: GrantFields): Promise<Grant>;
  /** Rejects with `not_found`. */
  remove(id: string): Promise<Grant>;
  /** Why nothing can be read, for people. */
  damaged(): string | undefined;
  /** Sets a damaged file aside; nothing is granted then. False when it is not damaged. */
  reset(): Promise<boolean>;
}

/** Grants that may be in force at once. */
export const MAX_GRANTS = 1_000;

const grantsSchema = z.array(z.strictObject({
  id: z.string(),
  subject: z.string(),
  capability: z.enum(CAPABILITIES),
  target: z.string(),
  createdAt: z.number(),
  note: z.string(),
}));

/** What the file of grants holds. */
export const parseGrants = (value: unknown): readonly Grant[] => grantsSchema.parse(value);

/** What a {@linkcode GrantStore} is made of. */
export interface GrantStoreDeps {
  file: SealedFile<readonly Grant[]>;
  /** What an operator types to set a damaged file aside. */
  repair: string;
  now: () => number;
}

/** Keeps grants in a file. */
export function createGrantStore(deps: GrantStoreDeps): GrantStore {
  return new FileGrantStore(deps);
}

class FileGrantStore implements GrantStore {
  readonly #deps: GrantStoreDeps;
  /** Grants by what they hold for, of the value that is there now. */
  #index: { of: readonly Grant[]; byKey: Map<string, Grant> } | undefined;

  constructor(deps: GrantStoreDeps) {
    this.#deps = deps;
  }

  find(subject: string, capability: Capability, target: string): Grant | undefined {
    const state = this.#deps.file.read();
    if (isDamaged(state)) return undefined;
    if (this.#index?.of !== state.value) {
      this.#index = {
        of: state.value,
        byKey: new Map(state.value.map((each) => [keyOf(each), each])),
      };
    }
    return this.#index.byKey.get(keyOf({ subject, capability, target }));
  }

  list(): Grant[] {
    const state = this.#deps.file.read();
    if (isDamaged(state)) throw damagedError(state, this.#deps.repair);
    return state.value.map((each) => ({ ...each }));
  }

  async add({ subject, capability, target, note }: GrantFields): Promise<Grant> {
    checkGrant({ subject, capability, target, note });
    const createdAt = this.#deps.now();
    const grant: Grant = { id: newId("gr_"), subject, capability, target, createdAt, note };
    return await this.#deps.file.update((all) => {
      const same = all.find((each) => keyOf(each) === keyOf(grant));
      if (same !== undefined) return { result: { ...same } };
      if (all.length >= MAX_GRANTS) {
        throw new ServiceError(
          "invalid_request",
          `There are ${MAX_GRANTS} grants already; remove some that are not needed any more`,
        );
      }
      return {
        value: [...all, grant],
        records: [{ kind: "grant.added", data: { ...grant } }],
        result: { ...grant },
      };
    });
  }

  async remove(id: string): Promise<Grant> {
    return await this.#deps.file.update((all) => {
      const found = all.find((each) => each.id === id);
      if (found === undefined) {
        throw new ServiceError("not_found", `There is no grant ${JSON.stringify(id)}`, {
          param: "id",
        });
      }
      return {
        value: all.filter((each) => each !== found),
        records: [{ kind: "grant.removed", data: { ...found } }],
        result: { ...found },
      };
    });
  }

  damaged(): string | undefined {
    const state = this.#deps.file.read();
    return isDamaged(state) ? state.damaged : undefined;
  }

  async reset(): Promise<boolean> {
    return await this.#deps.file.reset();
  }
}

/** No two different grants have the same one: the parts are JSON. */
function keyOf({ subject, capability, target }: Pick<Grant, "subject" | "capability" | "target">) {
  return JSON.stringify([subject, capability, target]);
}
