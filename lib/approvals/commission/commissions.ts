/**
 * Dry runs of automations, as the authority sees them: one is begun, each action of its turn is noted
 * here instead of run, and in the end there is a finding, from which an operator grants exactly what it
 * names.
 *
 * What is open lives in memory: a dry run does not outlive its process. Findings and grants are on the
 * disk.
 *
 * @module
 */

import { ServiceError } from "../../base/errors.ts";
import type { ActionContext } from "../../contract/actions.ts";
import type { AuditLog } from "../../audit/log.ts";
import { newId } from "../../base/new_id.ts";
import type { FindingStore } from "../../state/finding_store.ts";
import type { GrantStore } from "../../state/grant_store.ts";
import type { Grant } from "../../policy/grants.ts";
import {
  automationSubject,
  type CommissionOutcome,
  type Finding,
  findingDigest,
  neededGrants,
  type PreviewedAction,
} from "../../contract/finding.ts";

/** What commissions work with. */
export interface CommissionsDeps {
  audit: Pick<AuditLog, "append">;
  findings: FindingStore;
  grants: Pick<GrantStore, "list" | "grantAutomation" | "removeSubject">;
  /** Milliseconds since 1970. */
  now?: () => number;
}

/** Dry runs at once. */
export const MAX_OPEN = 16;

/** A dry run that was not finished within this time is over, milliseconds. */
export const MAX_COMMISSION_MS = 30 * 60 * 1_000;

/** Different actions that a finding keeps, and characters of them together. */
export const MAX_ACTIONS = 200;
const MAX_ACTIONS_CHARS = 256 * 1024;

interface Open {
  id: string;
  automationId: string;
  automationDigest: string;
  by: string;
  startedAt: number;
  actions: Map<string, PreviewedAction>;
  chars: number;
  left: number;
}

/** A dry run that was begun. */
export interface Begun {
  id: string;
  /** Milliseconds since 1970. */
  expiresAt: number;
}

/** What was granted. */
export interface Granted {
  finding: Finding;
  /** Those that are in force for it now. */
  grants: Grant[];
}

export class Commissions {
  readonly #deps: CommissionsDeps;
  readonly #open = new Map<string, Open>();

  constructor(deps: CommissionsDeps) {
    this.#deps = deps;
  }

  /** Begins one. Throws `conflict` while the automation is rehearsed, `overloaded` past {@linkcode MAX_OPEN}. */
  async begin(
    { automationId, digest, by }: { automationId: string; digest: string; by: string },
  ): Promise<Begun> {
    checkId(automationId);
    checkDigest(digest);
    const startedAt = this.#now();
    for (const [id, each] of this.#open) {
      if (startedAt - each.startedAt >= MAX_COMMISSION_MS) this.#open.delete(id);
    }
    if ([...this.#open.values()].some((each) => each.automationId === automationId)) {
      throw new ServiceError("conflict", `The automation "${automationId}" already has a dry run`);
    }
    if (this.#open.size >= MAX_OPEN) {
      throw new ServiceError("overloaded", `${MAX_OPEN} dry runs are open already`, {
        retryAfterS: 10,
      });
    }
    const id = newId("com_");
    // Its place is taken before the record is on the disk: two at once are one and a conflict.
    this.#open.set(id, {
      id,
      automationId,
      automationDigest: digest,
      by,
      startedAt,
      actions: new Map(),
      chars: 0,
      left: 0,
    });
    try {
      const data = { commission: id, automation: automationId, automationDigest: digest, by };
      await this.#deps.audit.append("commission.started", data);
    } catch (error) {
      this.#open.delete(id);
      throw error;
    }
    return { id, expiresAt: startedAt + MAX_COMMISSION_MS };
  }

  /** Why no action of this turn can be rehearsed; undefined when its commission is open. */
  objection({ rehearsal, automation }: Pick<ActionContext, "rehearsal" | "automation">) {
    const open = this.#find(rehearsal);
    if (open === undefined) return "this dry run is over, or was never begun";
    if (
      automation === undefined || automation.id !== open.automationId ||
      automation.digest !== open.automationDigest
    ) return "the dry run is of another automation, or of an earlier version of it";
  }

  /** Notes what was previewed; nothing when the commission is over by now. */
  note(rehearsal: string, action: Omit<PreviewedAction, "count">): void {
    const open = this.#find(rehearsal);
    if (open === undefined) return;
    const key = JSON.stringify([action.capability, action.target, action.effect, action.rule]);
    const known = open.actions.get(key);
    if (known !== undefined) {
      known.count += 1;
      return;
    }
    const chars = JSON.stringify(action).length;
    if (open.actions.size >= MAX_ACTIONS || open.chars + chars > MAX_ACTIONS_CHARS) {
      open.left += 1;
      return;
    }
    open.chars += chars;
    open.actions.set(key, { ...action, count: 1 });
  }

  /**
   * Ends one and gives its finding, which is on the disk then. One that was cancelled leaves none, and
   * the automation's last finding stays. Throws `not_found` for one that is not open.
   */
  async finish(
    { id, outcome }: { id: string; outcome: CommissionOutcome },
  ): Promise<Finding | undefined> {
    const open = this.#find(id);
    if (open === undefined) {
      throw new ServiceError("not_found", `No open dry run ${JSON.stringify(id)}`, {
        param: "id",
      });
    }
    // From here on nothing is noted any more.
    this.#open.delete(id);
    const { automationId, automationDigest, by, startedAt, left } = open;
    if (outcome === "cancelled") {
      const data = { commission: id, automation: automationId, automationDigest, outcome, by };
      await this.#deps.audit.append("commission.finished", data);
      return undefined;
    }
    const actions = [...open.actions.values()];
    const grants = neededGrants(actions);
    const finding: Finding = {
      id,
      automationId,
      automationDigest,
      digest: findingDigest({ automationId, automationDigest, grants }),
      outcome,
      by,
      startedAt,
      finishedAt: this.#now(),
      actions,
      left,
      grants,
    };
    await this.#deps.findings.put(finding);
    return finding;
  }

  /** The newest finding of an automation. Throws `not_found`. */
  finding(automationId: string): Finding {
    const finding = this.#deps.findings.find(automationId);
    if (finding === undefined) {
      throw new ServiceError(
        "not_found",
        `The automation ${JSON.stringify(automationId)} has had no dry run`,
        { param: "id" },
      );
    }
    return finding;
  }

  /**
   * Writes exactly the grants of the newest finding: all of them or none. Throws `conflict` when
   * `digest` is not the finding's, when the automation is not any more what was rehearsed, and when the
   * dry run did not get to its end (spec 5, G20).
   */
  async grant(
    { automationId, digest, automationDigest, by }: {
      automationId: string;
      /** Of the finding, as whoever grants has seen it. */
      digest: string;
      /** Of the automation as it is now. */
      automationDigest: string;
      by: string;
    },
  ): Promise<Granted> {
    const finding = this.finding(automationId);
    if (finding.automationDigest !== automationDigest) {
      throw new ServiceError(
        "conflict",
        `The automation "${automationId}" has changed since its dry run; nothing was granted. ` +
          "Do the dry run again",
      );
    }
    if (finding.digest !== digest) {
      throw new ServiceError(
        "conflict",
        `digest is ${
          JSON.stringify(digest.slice(0, 64))
        }; expected that of the newest finding of ` +
          `"${automationId}". Nothing was granted: look at the finding again`,
        { param: "digest" },
      );
    }
    if (finding.outcome !== "done") {
      throw new ServiceError(
        "conflict",
        `The last dry run of "${automationId}" was cut short, so what it needs is not known; ` +
          "nothing was granted",
      );
    }
    const grants = await this.#deps.grants.grantAutomation({
      subject: automationSubject(automationId),
      automationDigest,
      grants: finding.grants,
      note: `commission ${finding.id}`,
      by,
    });
    return { finding, grants };
  }

  /** Takes everything back that stands for an automation: it is gone. */
  async revoke({ automationId }: { automationId: string }): Promise<{ removed: number }> {
    checkId(automationId);
    for (const [id, each] of this.#open) {
      if (each.automationId === automationId) this.#open.delete(id);
    }
    // The grants first: a finding alone allows nothing.
    const removed = await this.#deps.grants.removeSubject(automationSubject(automationId));
    await this.#deps.findings.remove(automationId);
    return { removed };
  }

  #find(id: string | undefined): Open | undefined {
    const open = id === undefined ? undefined : this.#open.get(id);
    return open === undefined || this.#now() - open.startedAt >= MAX_COMMISSION_MS
      ? undefined
      : open;
  }

  #now(): number {
    return (this.#deps.now ?? Date.now)();
  }
}

function checkId(automationId: string): void {
  if (/^[A-Za-z0-9_-]{1,128}$/.test(automationId)) return;
  throw new ServiceError(
    "invalid_request",
    `automationId is ${JSON.stringify(automationId.slice(0, 100))}; expected an automation's id`,
    { param: "automationId" },
  );
}

function checkDigest(digest: string): void {
  if (/^[0-9a-f]{64}$/.test(digest)) return;
  throw new ServiceError(
    "invalid_request",
    `digest is ${JSON.stringify(digest.slice(0, 100))}; expected 64 hex digits`,
    { param: "digest" },
  );
}
