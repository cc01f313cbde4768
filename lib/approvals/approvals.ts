/**
 * Actions that wait for a person: each is shown as it was resolved, can be answered once,
 * and comes out in exactly one of four ways.
 *
 * An approval is settled in one synchronous step, so that two answers, a time-out and a requester who
 * leaves at the same moment cannot both count; what is recorded of it follows, and an approval counts
 * for nothing before its record is on the disk.
 *
 * @module
 */

import type { Clock } from "../base/clock.ts";
import { ServiceError, toErrorData } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type {
  ActionContext,
  ApprovalEvent,
  ApprovalView,
  ResolvedAction,
} from "../contract/actions.ts";
import type { Answer, Answered, ApprovalRequest } from "./approval_request.ts";
import { approvalBrief, approvalView } from "./approval_view.ts";
import type { AuditLog } from "../audit/log.ts";
import { grantTarget } from "../policy/grant_target.ts";
import type { LatchStore } from "../state/latch_store.ts";
import { SettledApprovals } from "./settled_approvals.ts";
import type { PendingStore } from "../state/pending_store.ts";
import { visibleCut } from "../base/visible_text.ts";
import { newId } from "../base/new_id.ts";

export type { Answer, Answered, ApprovalRequest };

/** Actions that may wait in a session, and in all. */
export const MAX_PENDING_IN_SESSION = 8;
const MAX_PENDING = 1_000;
/** Refused answers to one approval that go on record; a flood of them fills no disk. */
const MAX_RECORDED_REFUSALS = 16;
/** Characters of a denial's words. */
const MAX_REASON_CHARS = 1_000;

/** What approvals work with. */
export interface ApprovalsDeps {
  clock: Pick<Clock, "now" | "after">;
  audit: Pick<AuditLog, "append" | "digest">;
  /** Keeps what waits, so that a start knows what the last process left. */
  pending: Pick<PendingStore, "add" | "remove">;
  latches: Pick<LatchStore, "set">;
  /** `gates.approvalTimeoutS` in milliseconds. */
  timeoutMs: number;
  log: Pick<Log, "error">;
}

interface Waiting {
  view: ApprovalView;
  /** A chat shows all of it. */
  isChatEnough: boolean;
  action: ResolvedAction;
  context: ActionContext;
  refusals: number;
  resolve(answered: Answered): void;
  stop(): void;
  onEvent: (event: ApprovalEvent) => void;
}

/** The approvals of a process. */
export class Approvals {
  readonly #deps: ApprovalsDeps;
  readonly #waiting = new Map<string, Waiting>();
  readonly #settled = new SettledApprovals();
  readonly #recording = new Set<Promise<unknown>>();
  /** Those that are being put on record count too. */
  readonly #bySession = new Map<string, number>();
  #total = 0;
  #closed = false;

  constructor(deps: ApprovalsDeps) {
    this.#deps = deps;
  }

  /** How many wait. */
  get size(): number {
    return this.#waiting.size;
  }

  /** Those that wait, oldest first. */
  list(): ApprovalView[] {
    return [...this.#waiting.values()].map(({ view }) => view);
  }

  /** One that waits, whole. Throws the code that says what became of it. */
  get(id: string): ApprovalView {
    const { action, context, view: { createdAt, expiresAt } } = this.#find(id);
    const grant = grantTarget(action.target);
    return {
      ...approvalView({ action, context, id, createdAt, expiresAt }, { whole: true }),
      ...grant !== undefined && { grant },
    };
  }

  /**
   * Waits for a person. Never rejects but with `audit_unavailable` or when it cannot be kept; then
   * nobody was asked.
   */
  async request(request: ApprovalRequest): Promise<Answered> {
    const { context: { sessionKey } } = request;
    const inSession = this.#bySession.get(sessionKey) ?? 0;
    if (this.#closed) return { outcome: "void" };
    if (inSession >= MAX_PENDING_IN_SESSION || this.#total >= MAX_PENDING) {
      return { outcome: "full" };
    }
    this.#bySession.set(sessionKey, inSession + 1);
    this.#total++;
    try {
      return await this.#wait(request);
    } finally {
      this.#total--;
      const left = this.#bySession.get(sessionKey)! - 1;
      if (left === 0) this.#bySession.delete(sessionKey);
      else this.#bySession.set(sessionKey, left);
    }
  }

  /** Answers one. Throws what is wrong with the answer; then it still waits, or came out before. */
  async answer({ id, verdict, by, isChat, objection }: Answer): Promise<void> {
    const waiting = this.#find(id);
    const { action: { capability, digest }, context } = waiting;
    const hidden = isChat && "approve" in verdict && !waiting.isChatEnough;
    const against = objection(context) ?? (hidden ? notWholeInChat(id) : undefined);
    if (against !== undefined) {
      await this.#refuse(waiting, by, against);
      throw new ServiceError("insufficient_scope", `The approval ${id} still waits: ${against}`);
    }
    if ("approve" in verdict) {
      const said = verdict.approve.digest.toLowerCase();
      const isShort = isChat && /^[0-9a-f]{8,}$/.test(said) && digest.startsWith(said);
      if (said !== digest && !isShort) {
        await this.#refuse(waiting, by, "another digest");
        throw new ServiceError(
          "approval_mismatch",
          `digest is not that of the action that waits as ${id}; it still waits`,
          { param: "digest" },
        );
      }
      // Another answer may have come while the refusal of a third one was written.
      await this.#settle(this.#find(id), { outcome: "approved", by }, { by });
    } else {
      const reason = visibleCut(verdict.deny.reason.trim(), MAX_REASON_CHARS);
      const latch = { sessionKey: context.sessionKey, capability, reason };
      // Before the turn is told, so that its next call finds it.
      const before = () => this.#deps.latches.set(latch);
      const denied = { outcome: "denied", reason } as const;
      const settled = this.#settle(waiting, denied, { by, reason }, before);
      // A yes to one of these would be against the latch.
      for (const other of [...this.#waiting.values()]) {
        const { action, context } = other;
        if (action.capability !== capability || context.sessionKey !== latch.sessionKey) continue;
        this.#settle(other, denied, { by, reason, with: id }).catch(() => {});
      }
      await settled;
    }
  }

  /** Puts an answer of somebody who may not answer at all on record, if that one waits. */
  async refused(id: string, by: string, why: string): Promise<void> {
    const waiting = this.#waiting.get(id);
    if (waiting !== undefined) await this.#refuse(waiting, visibleCut(by, 200), why);
  }

  /** What an earlier process left waiting is void, and late answers are told so. */
  rememberVoid(ids: Iterable<string>): void {
    for (const id of ids) this.#settled.add(id, "stopped");
  }

  /** Voids all that wait and takes no more; resolves when that is on record. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const waiting of [...this.#waiting.values()]) {
      void this.#settle(waiting, { outcome: "void" }, { why: "stopped" }).catch(() => {});
      this.#settled.add(waiting.view.id, "stopped");
    }
    while (this.#recording.size > 0) await Promise.allSettled(this.#recording);
  }

  async #wait({ action, context, signals, onEvent }: ApprovalRequest): Promise<Answered> {
    const { clock, audit, pending, timeoutMs } = this.#deps;
    const createdAt = this.#now();
    const id = newId("apr_");
    const times = { createdAt, expiresAt: createdAt + timeoutMs };
    const view = approvalView({ action, context, id, ...times });
    const brief = approvalBrief(action);
    await audit.append("approval.requested", {
      approval: id,
      digest: audit.digest(action.digest),
      tool: action.tool,
      capability: action.capability,
      session: context.sessionKey,
      turn: context.turnId,
      call: context.callId,
      expiresAt: view.expiresAt,
    });
    const { details: _, isWhole: _isWhole, ...kept } = view;
    await pending.add(kept);

    const { promise, resolve } = Promise.withResolvers<Answered>();
    const leave = () => void this.#settle(waiting, { outcome: "void" }, { why: "left" });
    const cancelTimer = clock.after(
      timeoutMs,
      () => void this.#settle(waiting, { outcome: "expired" }),
    );
    const waiting: Waiting = {
      view,
      isChatEnough: brief.isWhole,
      action,
      context,
      refusals: 0,
      resolve,
      onEvent,
      stop() {
        cancelTimer();
        for (const signal of signals) signal.removeEventListener("abort", leave);
      },
    };
    this.#waiting.set(id, waiting);
    onEvent({ type: "requested", approval: view, brief });
    for (const signal of signals) signal.addEventListener("abort", leave);
    if (this.#closed || signals.some(({ aborted }) => aborted)) leave();
    return await promise;
  }

  #find(id: string): Waiting {
    const waiting = this.#waiting.get(id);
    // A machine that slept wakes with timers that are late.
    if (waiting !== undefined && this.#now() < waiting.view.expiresAt) return waiting;
    if (waiting !== undefined) void this.#settle(waiting, { outcome: "expired" });
    throw this.#settled.error(id);
  }

  /** Settles it at once, if nothing has before; the returned promise is that of its record. */
  #settle(
    waiting: Waiting,
    answered: Exclude<Answered, { outcome: "full" }>,
    facts: Record<string, unknown> = {},
    before: () => Promise<unknown> = () => Promise.resolve(),
  ): Promise<void> {
    const { id } = waiting.view;
    if (this.#waiting.get(id) !== waiting) return Promise.resolve();
    this.#waiting.delete(id);
    waiting.stop();
    this.#settled.add(id, answered.outcome);
    const recorded = this.#record(waiting, answered, facts, before);
    this.#recording.add(recorded);
    const forget = () => void this.#recording.delete(recorded);
    recorded.then(forget, forget);
    return recorded;
  }

  async #record(
    waiting: Waiting,
    answered: Exclude<Answered, { outcome: "full" }>,
    facts: Record<string, unknown>,
    before: () => Promise<unknown>,
  ): Promise<void> {
    const { audit, pending, log } = this.#deps;
    const { view: { id, digest }, onEvent } = waiting;
    const { outcome } = answered;
    const isAnswer = outcome === "approved" || outcome === "denied";
    let failure: unknown;
    let told = answered;
    try {
      await before();
      await audit.append(isAnswer ? "approval.answered" : `approval.${outcome}`, {
        approval: id,
        digest: audit.digest(digest),
        ...isAnswer && { outcome },
        ...facts,
      });
    } catch (error) {
      failure = error;
      // Nothing is approved by what is not on record; a no stays a no.
      if (outcome === "approved") {
        told = { outcome: "void" };
        this.#settled.add(id, "void");
      }
      log.error("The outcome of an approval is not kept whole", {
        approval: id,
        outcome,
        reason: toErrorData(error).message,
      });
    }
    await pending.remove(id).catch((error) =>
      log.error("An approval is still kept as waiting; the next start voids it", {
        approval: id,
        reason: toErrorData(error).message,
      })
    );
    onEvent({ type: "resolved", approvalId: id, outcome: told.outcome });
    waiting.resolve(told);
    if (failure !== undefined && isAnswer) throw failure;
  }

  /** Puts a refused answer on record; that it is refused does not depend on that. */
  async #refuse(waiting: Waiting, by: string, why: string): Promise<void> {
    if (++waiting.refusals > MAX_RECORDED_REFUSALS) return;
    const { audit, log } = this.#deps;
    try {
      await audit.append("approval.refused", { approval: waiting.view.id, by, why });
    } catch (error) {
      log.error("A refused answer is not on record", { reason: toErrorData(error).message });
    }
  }

  #now(): number {
    return this.#deps.clock.now();
  }
}

function notWholeInChat(id: string): string {
  return `a chat can't show all of it. See it with "service approvals show ${id}" and approve it ` +
    `with "service approvals approve ${id}"`;
}
