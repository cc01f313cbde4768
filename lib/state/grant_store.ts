/**
 * Standing grants on the disk.
 *
 * @module
 */

import { z } from "zod";
import { ServiceError } from "../base/errors.ts";
import { CAPABILITIES, type Capability } from "../contract/actions.ts";
import { checkGrant, type Grant, type GrantFields, type GrantHolder } from "../policy/grants.ts";
import { newId } from "../base/new_id.ts";
import { damagedError, isDamaged } from "./damaged.ts";
import type { SealedFile } from "./sealed_file.ts";

/** The grants of a home. Changes leave their own records to the audit. */
export interface GrantStore {
  /** The grant that holds exactly; none while the state is damaged. Takes no disk access but a stat. */
  find(
    holder: GrantHolder | undefined,
    capability: Capability,
    target: string,
  ): Grant | undefined;
  /** Oldest first. Throws `refused` when the state is damaged. */
  list(): Grant[];
  /** Rejects with `invalid_request` for what is no grant, naming the field. Adding twice adds once. */
  add(grant: GrantFields): Promise<Grant>;
  /**
   * Adds the grants of an automation as it is written now, in one write, and takes away those of earlier
   * versions of it, which hold no longer. Returns those that it has by this. Rejects as `add` does, and
   * has changed nothing then.
   */
  grantAutomation(request: AutomationGrants): Promise<Grant[]>;
  /** Takes all grants of a subject back, in one write; how many there were. */
  removeSubject(subject: string): Promise<number>;
  /** Rejects with `not_found`. */
  remove(id: string): Promise<Grant>;
  /** Why nothing can be read, for people. */
  damaged(): string | undefined;
  /** Sets a damaged file aside; nothing is granted then. False when it is not damaged. */
  reset(): Promise<boolean>;
}

/** What an automation is granted. */
export interface AutomationGrants {
  /** `automation:<id>` */
  subject: string;
  automationDigest: string;
  grants: readonly Pick<Grant, "capability" | "target">[];
  note: string;
  /** Who grants; stands in the records. */
  by: string;
}

/** Grants that may be in force at once. */
const MAX_GRANTS = 1_000;

const grantsSchema = z.array(z.strictObject({
  id: z.string(),
  subject: z.string(),
  capability: z.enum(CAPABILITIES),
  target: z.string(),
  createdAt: z.number(),
  note: z.string(),
  automationDigest: z.string().optional(),
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

  find(
    holder: GrantHolder | undefined,
    capability: Capability,
    target: string,
  ): Grant | undefined {
    if (holder === undefined) return undefined;
    const state = this.#deps.file.read();
    if (isDamaged(state)) return undefined;
    if (this.#index?.of !== state.value) {
      this.#index = {
        of: state.value,
        byKey: new Map(state.value.map((each) => [keyOf(each), each])),
      };
    }
    const { subject, automationDigest } = holder;
    const { byKey } = this.#index;
    return byKey.get(keyOf({ subject, capability, target })) ??
      (automationDigest === undefined
        ? undefined
        : byKey.get(keyOf({ subject, capability, target, automationDigest })));
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
      refuseTooMany(all.length + 1);
      return {
        value: [...all, grant],
        records: [{ kind: "grant.added", data: { ...grant } }],
        result: { ...grant },
      };
    });
  }

  async grantAutomation(
    { subject, automationDigest, grants, note, by }: AutomationGrants,
  ): Promise<Grant[]> {
    for (const grant of grants) checkGrant({ ...grant, subject, note });
    const createdAt = this.#deps.now();
    const wanted = new Map(grants.map(({ capability, target }): [string, Grant] => {
      const grant = { subject, capability, target, automationDigest };
      return [keyOf(grant), { id: newId("gr_"), ...grant, createdAt, note }];
    }));
    return await this.#deps.file.update((all) => {
      const isStale = (each: Grant) =>
        each.subject === subject && each.automationDigest !== undefined &&
        each.automationDigest !== automationDigest;
      const stale = all.filter(isStale);
      const kept = all.filter((each) => !isStale(each));
      const known = new Map(kept.map((each) => [keyOf(each), each]));
      const added = [...wanted].filter(([key]) => !known.has(key)).map(([, grant]) => grant);
      const result = [...wanted].map(([key, grant]) => ({ ...known.get(key) ?? grant }));
      if (added.length === 0 && stale.length === 0) return { result };
      refuseTooMany(kept.length + added.length);
      return {
        value: [...kept, ...added],
        records: [
          ...stale.map((each) => ({ kind: "grant.removed" as const, data: { ...each, by } })),
          ...added.map((each) => ({ kind: "grant.added" as const, data: { ...each, by } })),
        ],
        result,
      };
    });
  }

  async removeSubject(subject: string): Promise<number> {
    return await this.#deps.file.update((all) => {
      const removed = all.filter((each) => each.subject === subject);
      if (removed.length === 0) return { result: 0 };
      return {
        value: all.filter((each) => each.subject !== subject),
        records: removed.map((each) => ({ kind: "grant.removed" as const, data: { ...each } })),
        result: removed.length,
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

/** Of how many there would be. */
function refuseTooMany(count: number): void {
  if (count <= MAX_GRANTS) return;
  throw new ServiceError(
    "invalid_request",
    `There would be more than ${MAX_GRANTS} grants; remove some that are not needed any more`,
  );
}

/** No two different grants have the same one: the parts are JSON. */
function keyOf(
  { subject, capability, target, automationDigest }:
    & Pick<Grant, "subject" | "capability" | "target">
    & Pick<Grant, "automationDigest">,
): string {
  return JSON.stringify([subject, capability, target, automationDigest ?? ""]);
}
