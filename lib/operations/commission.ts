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
import type { Operate, OperatorAnswer } from "./operator.ts";
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

/** Each call throws `not_enabled` while automations are off, and `not_found`. */
export interface Commission {
  off(): string | undefined;
  /**
   * Rehearses an automation, whether it is switched on or not. When `signal` aborts the turn is
   * cancelled, nothing is kept, and this rejects with `turn_cancelled`. Rejects with `conflict` while it
   * is being rehearsed, and when it was changed or deleted meanwhile.
   */
  run(id: string, asked: Asked & { signal: AbortSignal }): Promise<CommissionReport>;
  /** The newest finding. */
  finding(id: string, asked: Asked): Promise<CurrentFinding>;
  /**
   * Grants what the newest finding names, if `digest` is that finding's and the automation is as it was;
   * else rejects with `conflict`.
   */
  grant(id: string, asked: Asked & { digest: string }): Promise<Granted>;
}

/** Time of a rehearsal's turn, milliseconds; `agent.turnTimeoutS` may be less. The authority waits longer. */
const MAX_REHEARSAL_MS = 15 * 60 * 1_000;

/** Makes them. */
export function createCommission(deps: CommissionDeps): Commission {
  const { store, turns, operate, off, log } = deps;

  async function find(id: string): Promise<AutomationRecord> {
    const remedy = off();
    if (remedy !== undefined) {
      throw new ServiceError("not_enabled", `Automations are off: ${remedy}`);
    }
    const record = await store.find(id);
    if (record !== undefined) return record;
    const shown = JSON.stringify(id.slice(0, 100));
    throw new ServiceError("not_found", `There is no automation ${shown}`, { param: "id" });
  }

  async function finish(
    id: string,
    outcome: CommissionOutcome,
    credential: Credential,
  ): Promise<Finding | undefined> {
    const answer = await operate({ op: "automations.commission.finish", id, outcome }, credential);
    return (answer as { finding?: Finding }).finding;
  }

  async function drop(id: string, credential: Credential): Promise<void> {
    try {
      await finish(id, "cancelled", credential);
    } catch (error) {
      // It ends by itself in time; until then the automation cannot be rehearsed again.
      log.warning("A rehearsal could not be ended", { id, reason: toErrorData(error).message });
    }
  }

  /** The turn, to its end. */
  async function rehearse(
    { id, spec }: AutomationRecord,
    { digest, rehearsal, signal }: { digest: string; rehearsal: string; signal: AbortSignal },
  ): Promise<Omit<CommissionReport, "finding"> & { outcome: CommissionOutcome }> {
    const handle = await turns.submit({
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

  return {
    off,
    async run(id, { credential, signal }) {
      const record = await find(id);
      const digest = automationDigest(record.spec);
      const begun = await operate(
        { op: "automations.commission.begin", automationId: id, digest },
        credential,
      );
      const { commission } = begun as Extract<OperatorAnswer, { commission: unknown }>;
      const rehearsal = commission.id;
      let isFinished = false;
      try {
        if (signal.aborted) throw cancelled();
        const { outcome, ...report } = await rehearse(record, { digest, rehearsal, signal });
        const now = await store.find(id);
        if (now === undefined || automationDigest(now.spec) !== digest) {
          throw new ServiceError(
            "conflict",
            `The automation "${id}" was changed or deleted while it was rehearsed; nothing of that ` +
              "was kept",
          );
        }
        isFinished = true;
        const finding = await finish(rehearsal, outcome, credential);
        return { finding: finding!, ...report };
      } finally {
        if (!isFinished) await drop(rehearsal, credential);
      }
    },
    async finding(id, { credential }) {
      const { spec } = await find(id);
      const answer = await operate({ op: "automations.finding", automationId: id }, credential);
      const { finding } = answer as { finding: Finding };
      return { finding, isCurrent: finding.automationDigest === automationDigest(spec) };
    },
    async grant(id, { credential, digest }) {
      const { spec } = await find(id);
      const answer = await operate({
        op: "automations.grant",
        automationId: id,
        digest,
        automationDigest: automationDigest(spec),
      }, credential);
      return (answer as Extract<OperatorAnswer, { granted: unknown }>).granted;
    },
  };
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
