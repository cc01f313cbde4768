/**
 * What a dry run of an automation has shown: each action that it wanted, what a run of it would be
 * told, and the grants that it would take. Noted by the authority itself, from what it
 * resolved and judged; nothing in it is by the word of the service or of a model but how the turn ended.
 *
 * @module
 */

import { z } from "zod";
import { CAPABILITIES, type Capability } from "./actions.ts";
import { canonicalJson } from "../base/canonical_json.ts";
import { sha256Hex } from "../base/sha256.ts";

/** What a run would be told of an action. `grant`: it would run if exactly that were granted. */
export const PREVIEWED_EFFECTS = ["allow", "grant", "deny"] as const;

/** One of {@linkcode PREVIEWED_EFFECTS}. */
export type PreviewedEffect = typeof PREVIEWED_EFFECTS[number];

/** An action that a dry run wanted. */
export interface PreviewedAction {
  tool: string;
  capability: Capability;
  /** As a grant names it; what no grant could name is in words. */
  target: string;
  effect: PreviewedEffect;
  /** Stable name of the rule, such as `unattended` or `grant:gr_…`. */
  rule: string;
  /** For people: why. */
  reason: string;
  /** How often it was wanted. */
  count: number;
}

/** A grant that an automation would need. */
export interface NeededGrant {
  capability: Capability;
  target: string;
}

/** How the turn of a dry run ended. */
export const COMMISSION_OUTCOMES = ["done", "failed", "cancelled"] as const;

/** One of {@linkcode COMMISSION_OUTCOMES}. */
export type CommissionOutcome = typeof COMMISSION_OUTCOMES[number];

/** The finding of one dry run. */
export interface Finding {
  /** The commission's id: `com_` and 16 letters and digits. */
  id: string;
  automationId: string;
  /** Of the automation as it was rehearsed. */
  automationDigest: string;
  /** See {@linkcode findingDigest}; whoever grants repeats it. */
  digest: string;
  outcome: Exclude<CommissionOutcome, "cancelled">;
  /** Who commissioned it, such as `token:tok_…`. */
  by: string;
  /** Milliseconds since 1970. */
  startedAt: number;
  finishedAt: number;
  /** In the order in which they came. */
  actions: PreviewedAction[];
  /** Further actions, which were not kept: the grants are not all then. */
  left: number;
  grants: NeededGrant[];
}

/** The shape of a finding on the disk. */
export const findingSchema: z.ZodType<Finding> = z.strictObject({
  id: z.string(),
  automationId: z.string(),
  automationDigest: z.string(),
  digest: z.string(),
  outcome: z.enum(["done", "failed"]),
  by: z.string(),
  startedAt: z.number(),
  finishedAt: z.number(),
  actions: z.array(z.strictObject({
    tool: z.string(),
    capability: z.enum(CAPABILITIES),
    target: z.string(),
    effect: z.enum(PREVIEWED_EFFECTS),
    rule: z.string(),
    reason: z.string(),
    count: z.number(),
  })),
  left: z.number(),
  grants: z.array(z.strictObject({ capability: z.enum(CAPABILITIES), target: z.string() })),
});

/** The grants that these actions take, each once, in the order in which they came. */
export function neededGrants(actions: readonly PreviewedAction[]): NeededGrant[] {
  return actions.filter(({ effect }) => effect === "grant")
    .map(({ capability, target }) => ({ capability, target }));
}

/**
 * SHA-256, hex, of the automation as it was rehearsed and of exactly the grants that it would take: who
 * repeats it has seen both (spec 5, G20).
 */
export function findingDigest(
  { automationId, automationDigest, grants }: Pick<
    Finding,
    "automationId" | "automationDigest" | "grants"
  >,
): string {
  return sha256Hex(canonicalJson(["finding/1", automationId, automationDigest, grants]));
}

/** The subject of an automation's grants. */
export function automationSubject(automationId: string): string {
  return `automation:${automationId}`;
}
