/**
 * Commissions: an automation is rehearsed as a turn of the model in which no action runs, and what the
 * authority has seen of it becomes a finding, from which an operator grants.
 *
 * @module
 */

import type { StoredEvent } from "../contract/events.ts";
import type { Turns } from "../contract/turns.ts";
import type { Granted } from "../approvals/commission/commissions.ts";
import type { CommissionOutcome, Finding } from "../contract/finding.ts";
import type { Credential } from "../contract/credentials.ts";
import type { Operate } from "./operations.ts";
import { automationDigest } from "../automation/automation_digest.ts";
import type { AutomationRecord } from "../contract/automation_record.ts";
import type { AutomationStore } from "../contract/automation_store.ts";
import type { CommissionReport, CurrentFinding } from "../automation/commission_report.ts";
import { ServiceError, toErrorData } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { automationSession, chatOf } from "../automation/agent_turns.ts";
import { runResult } from "../automation/run_result.ts";

/** What {@linkcode createCommission} needs. */
export interface CommissionDeps {
  /** `journal.automations`. */
  store: Pick<AutomationStore, "find">;
  turns: Pick<Turns, "submit">;
  /** Asks the authority. */
  operate: Operate;
  /** What to do to have automations on; undefined while they are. */
  off: () => string | undefined;
  log: Pick<Log, "warning">;
}

/** Who asks, for the authority to check. */
interface Asked {
  credential: Credential;
}

/** Time of a dry run's turn, milliseconds; `agent.turnTimeoutS` may be less. The authority waits longer. */
const MAX_REHEARSAL_MS = 15 * 60 * 1_000;

/** Makes them. */
export function createCommission(deps: CommissionDeps): Commission {
  return new Commission(deps);
}

/** Each call throws `not_enabled` while automations are off, and `not_found`. */
export class Commission {
  readonly #deps: CommissionDeps;

  constructor(deps: CommissionDeps) {
    this.#deps = deps;
  }

  off(): string | undefined {
    return this.#deps.off();
  }

  /**
   * Rehearses an automation, whether it is switched on or not. When `signal` aborts the turn is
   * cancelled, nothing is kept, and this rejects with `turn_cancelled`. Rejects with `conflict` while it
   * is being rehearsed, and when it was changed or deleted meanwhile.
   */
  async run(
    id: string,
    { credential, signal }: Asked & { signal: AbortSignal },
  ): Promise<CommissionReport> {
    const record = await this.#find(id);
    const digest = automationDigest(record.spec);
    const { id: rehearsal } = await this.#deps.operate(
      { op: "commissions.begin", automationId: id, digest },
      credential,
    );
    let isFinished = false;
    try {
      if (signal.aborted) throw cancelled();
      const { outcome, ...report } = await this.#rehearse(record, { digest, rehearsal, signal });
      const now = await this.#deps.store.find(id);
      if (now === undefined || automationDigest(now.spec) !== digest) {
        throw new ServiceError(
          "conflict",
          `The automation "${id}" was changed or deleted while it was rehearsed; nothing of that ` +
            "was kept",
        );
      }
      isFinished = true;
      const finding = await this.#finish(rehearsal, outcome, credential);
      return { finding: finding!, ...report };
    } finally {
      if (!isFinished) await this.#drop(rehearsal, credential);
    }
  }

  /** The newest finding. */
  async finding(id: string, { credential }: Asked): Promise<CurrentFinding> {
    const { spec } = await this.#find(id);
    const request = { op: "commissions.finding", automationId: id } as const;
    const finding = await this.#deps.operate(request, credential);
    return { finding, isCurrent: finding.automationDigest === automationDigest(spec) };
  }

  /**
   * Grants what the newest finding names, if `digest` is that finding's and the automation is as it was;
   * else rejects with `conflict`.
   */
  async grant(
    id: string,
    { credential, digest }: Asked & { digest: string },
  ): Promise<Granted> {
    const { spec } = await this.#find(id);
    return await this.#deps.operate({
      op: "commissions.grant",
      automationId: id,
      digest,
      automationDigest: automationDigest(spec),
    }, credential);
  }

  async #find(id: string): Promise<AutomationRecord> {
    const remedy = this.off();
    if (remedy !== undefined) {
      throw new ServiceError("not_enabled", `Automations are off: ${remedy}`);
    }
    const record = await this.#deps.store.find(id);
    if (record !== undefined) return record;
    const shown = JSON.stringify(id.slice(0, 100));
    throw new ServiceError("not_found", `There is no automation ${shown}`, { param: "id" });
  }

  async #finish(
    id: string,
    outcome: CommissionOutcome,
    credential: Credential,
  ): Promise<Finding | undefined> {
    const request = { op: "commissions.finish", id, outcome } as const;
    return await this.#deps.operate(request, credential);
  }

  async #drop(id: string, credential: Credential): Promise<void> {
    try {
      await this.#finish(id, "cancelled", credential);
    } catch (error) {
      // It ends by itself in time; until then the automation cannot be rehearsed again.
      const { message: reason } = toErrorData(error);
      this.#deps.log.warning("A rehearsal could not be ended", { id, reason });
    }
  }

  /** The turn, to its end. */
  async #rehearse(
    { id, spec }: AutomationRecord,
    { digest, rehearsal, signal }: { digest: string; rehearsal: string; signal: AbortSignal },
  ): Promise<Omit<CommissionReport, "finding"> & { outcome: CommissionOutcome }> {
    const handle = await this.#deps.turns.submit({
      // Beside that of its runs, which nobody is to take it for.
      sessionKey: `${automationSession(id)}.rehearsal`,
      channel: "automation",
      actor: automationSession(id),
      input: [{ type: "text", text: spec.message }],
      durable: false,
      attended: false,
      timeoutMs: MAX_REHEARSAL_MS,
      automation: {
        id,
        digest,
        maxSteps: spec.maxSteps,
        tokenBudget: spec.tokenBudget,
        ...spec.delivery !== undefined && { delivery: chatOf(spec.delivery) },
        rehearsal,
      },
    });
    const cancel = () => handle.cancel();
    signal.addEventListener("abort", cancel);
    if (signal.aborted) cancel();
    try {
      const tokens = { inputTokens: 0, outputTokens: 0 };
      const result = await runResult(counted(handle.events(), tokens));
      if (signal.aborted) throw cancelled();
      const told = result?.status === "done" ? { outcome: "done" as const, text: result.answer } : {
        outcome: "failed" as const,
        text: "",
        error: result?.error ?? "The turn ended without saying how",
      };
      return { ...told, ...tokens, turnId: handle.id };
    } finally {
      signal.removeEventListener("abort", cancel);
      handle.cancel();
    }
  }
}

/** The events, with the tokens of each model call added up. */
async function* counted(
  events: AsyncIterable<StoredEvent>,
  tokens: { inputTokens: number; outputTokens: number },
): AsyncIterable<StoredEvent> {
  for await (const stored of events) {
    if (stored.event.type === "turn_end") {
      const { inputTokens, outputTokens } = stored.event.usage;
      Object.assign(tokens, { inputTokens, outputTokens });
    }
    yield stored;
  }
}

function cancelled(): ServiceError {
  return new ServiceError("turn_cancelled", "The rehearsal was cancelled: its caller has left");
}
