/**
 * Whether an action may run: decided by the policy as it is at that moment, and where that says so by a
 * person, after whose yes the action is resolved and decided again.
 *
 * @module
 */

import { ServiceError, toErrorData } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { Tool } from "../contract/tool.ts";
import type {
  ActionContext,
  ActionPort,
  ActionResult,
  CanAsk,
  Decision,
  ResolvedAction,
  Target,
  UrlTarget,
} from "../contract/actions.ts";
import { approvalDecision, approvalRefusal } from "../approvals/approval_refusal.ts";
import type { Approvals } from "../approvals/approvals.ts";
import type { AuditLog } from "../audit/log.ts";
import { grantTarget } from "../policy/grant_target.ts";
import { decide, decideBeforeLookup, type Policy, type PolicySettings } from "../policy/policy.ts";
import { recordAction } from "./record_action.ts";
import { refusal } from "../policy/refusal.ts";
import type { OwnListeners } from "../policy/resolve/own_listeners.ts";
import { sealAction } from "./resolve_touch.ts";
import { isDamaged } from "../state/damaged.ts";
import { checkGrant, type Grant, grantHolder } from "../policy/grants.ts";
import type { OperatorState } from "../state/operator_state.ts";
import type { SecretStore } from "../state/secret_store.ts";
import { UnaskedFetches, type UnaskedFetchLimits } from "../policy/unasked_fetches.ts";

/** What judging needs. */
export interface JudgeDeps {
  /** `at rest`: nothing is started to find them out. */
  settings: (how?: "at rest") => Promise<PolicySettings>;
  state: Pick<OperatorState, "grants" | "latches" | "damaged">;
  approvals: Pick<Approvals, "request">;
  canAsk: CanAsk;
  /** Scopes of secrets; without it there are none. */
  secretStore?: Pick<SecretStore, "list">;
  /** The target with the addresses of its host, or unresolved. */
  lookUp: (target: UrlTarget, signal: AbortSignal) => Promise<Target>;
  unaskedFetches: UnaskedFetchLimits;
  /** Where the service itself listens now; absent: nowhere. */
  listeners?: () => OwnListeners;
  audit: AuditLog;
  now?: () => number;
  log: Pick<Log, "error">;
}

/** A tool call with its target. */
export interface Judged {
  tool: Pick<Tool, "name" | "capability">;
  args: unknown;
  target: Target;
  context: ActionContext;
  options: Parameters<ActionPort["act"]>[1];
  /** Finds the target anew, as it was found before. */
  resolve: () => Promise<Target>;
}

/** It may run, as this action and for this reason. */
export interface Allowed {
  action: ResolvedAction;
  decision: Decision;
}

/** It may run, or what the turn is told. */
export type Judgement = Allowed | { refused: ActionResult };

/** What would be decided of an action. */
export interface Previewed extends Allowed {
  /** It would be allowed if exactly this were granted to whoever asks; undefined: it is, or cannot be. */
  grant: string | undefined;
}

/** Rules of decisions that a person made begin so. */
const APPROVAL = "approval:";

/** The rule whose fetches are counted. */
const COUNTED = "fetch.result";

/** What may go on. */
interface Decided extends Allowed {
  wasAsked: boolean;
}

type Step = "before the lookup" | "whole";

/** Judges actions. */
export class Judge {
  readonly #deps: JudgeDeps;
  readonly #fetches: UnaskedFetches;

  constructor(deps: JudgeDeps) {
    this.#deps = deps;
    this.#fetches = new UnaskedFetches(deps.unaskedFetches);
  }

  /** Judges one. What is refused is on record, or could not be. */
  async judge(judged: Judged): Promise<Judgement> {
    const { tool, args, target, options } = judged;
    let action = sealAction(tool, args, target);
    let before: Decided | undefined;
    if (target.kind === "url" && target.addresses.length === 0) {
      const first = await this.#decide(action, judged, "before the lookup");
      if ("refused" in first) return first;
      before = first;
      action = sealAction(tool, args, await this.#deps.lookUp(target, options.signal));
    }
    return await this.#decide(action, judged, "whole", before);
  }

  /**
   * What would be decided, without any effect: no host is looked up and nothing started, asked or recorded
   * (spec 5, G4). Addresses of a host that is a name count as public.
   */
  async preview(
    { tool, args, target, context }: Omit<Judged, "options" | "resolve">,
  ): Promise<Previewed> {
    const action = sealAction(tool, args, target);
    const isUnknown = target.kind === "url" && target.addresses.length === 0;
    const judge = isUnknown ? decideBeforeLookup : decide;
    const policy = await this.#policy(action, context, "at rest");
    const decision = judge(action, context, policy);
    const wanted = decision.effect === "allow" ? undefined : grantFor(action, context);
    const grants = wanted === undefined ? [] : [wanted];
    const granted = judge(action, context, { ...policy, grants });
    return {
      action,
      decision,
      grant: granted.effect === "allow" ? wanted?.target : undefined,
    };
  }

  /**
   * Refuses what would be refused without anybody being asked, and records that; undefined for what may
   * be allowed, and for what another rule than `byRule` denies. Only for what has no host to be looked up.
   */
  async refuseAtOnce(
    { tool, args, target, context }: Judged,
    byRule?: string,
  ): Promise<ActionResult | undefined> {
    const action = sealAction(tool, args, target);
    const decision = decide(action, context, await this.#policy(action, context));
    if (decision.effect !== "deny" || decision.rule !== (byRule ?? decision.rule)) return undefined;
    return await this.#refuse(action, context, decision);
  }

  /** Refuses what was allowed and is not any more; what a person approved only if it is denied now. */
  async refuseIfEnded(
    { action, decision: { rule } }: Allowed,
    context: ActionContext,
  ): Promise<ActionResult | undefined> {
    const policy = { ...await this.#policy(action, context), canAsk: true };
    const now = decide(action, context, policy);
    if (now.effect === "allow" || (now.effect === "ask" && rule.startsWith(APPROVAL))) return;
    return await this.#refuse(action, context, now);
  }

  /** `before`: what was decided of the URL before its host was looked up. */
  async #decide(
    action: ResolvedAction,
    judged: Judged,
    step: Step,
    before?: Decided,
  ): Promise<Decided | { refused: ActionResult }> {
    const { context } = judged;
    const judge = step === "whole" ? decide : decideBeforeLookup;
    const isCounted = before?.decision.rule === COUNTED;
    const policy = await this.#policy(action, context);
    const fetchesSpent = !isCounted && this.#isSpent(action, context);
    const decision = judge(action, context, { ...policy, fetchesSpent });
    if (decision.effect === "allow") {
      // With nothing awaited since the look at the count: calls may come at once.
      if (decision.rule === COUNTED && !isCounted) this.#count(action, context);
      return { action, decision, wasAsked: false };
    }
    if (decision.effect === "deny") {
      return { refused: await this.#refuse(action, context, decision) };
    }
    if (before?.wasAsked) return { ...before, action };
    return await this.#ask(action, judged, decision, judge);
  }

  #isSpent({ target }: ResolvedAction, { turnId }: ActionContext): boolean {
    return target.kind === "url" && this.#fetches.isSpent(turnId, target.host);
  }

  /** Once a fetch, and before its host is looked up: that tells something too. */
  #count({ target }: ResolvedAction, { turnId }: ActionContext): void {
    if (target.kind === "url") this.#fetches.add(turnId, target.host);
  }

  async #ask(
    action: ResolvedAction,
    { tool, args, context, options, resolve }: Judged,
    { reason }: Decision,
    judge: typeof decide,
  ): Promise<
    { action: ResolvedAction; decision: Decision; wasAsked: true } | { refused: ActionResult }
  > {
    const { signal, left, onApproval } = options;
    let id = "";
    const answered = await this.#deps.approvals.request({
      action,
      context,
      signals: left === undefined ? [signal] : [signal, left],
      onEvent(event) {
        if (event.type === "requested") id = event.approval.id;
        onApproval?.(event);
      },
    });
    signal.throwIfAborted();
    const refuse = async (outcome: Parameters<typeof approvalDecision>[0]) => {
      await this.#record(action, context, approvalDecision(outcome, reason));
      return { refused: approvalRefusal(action, outcome, context) };
    };
    if (answered.outcome !== "approved") return await refuse(answered);
    if (left?.aborted) return await refuse({ outcome: "void" });

    const again = sealAction(tool, args, await this.#again(action.target, resolve));
    if (again.digest !== action.digest) return await refuse({ outcome: "changed" });
    // What has changed while it waited counts too; only that somebody can be asked does not any more.
    const policy = { ...await this.#policy(again, context), canAsk: true };
    const now = judge(again, context, policy);
    if (now.effect === "deny") return { refused: await this.#refuse(again, context, now) };
    const decision: Decision = {
      effect: "allow",
      rule: APPROVAL + id,
      reason: "a person approved exactly this",
    };
    return { action: again, decision, wasAsked: true };
  }

  /** Addresses that were approved are kept: the connection goes to these and no others. */
  async #again(before: Target, resolve: () => Promise<Target>): Promise<Target> {
    const target = await resolve();
    return before.kind === "url" && target.kind === "url"
      ? { ...target, addresses: before.addresses }
      : target;
  }

  async #policy(
    { capability, target }: ResolvedAction,
    context: ActionContext,
    how?: "at rest",
  ): Promise<Policy> {
    const { settings, state: { grants, latches, damaged }, canAsk } = this.#deps;
    const { sessionKey } = context;
    const fixed = await settings(how);
    const text = grantTarget(target);
    const grant = text === undefined
      ? undefined
      : grants.find(grantHolder(context), capability, text);
    const latch = latches.find(sessionKey, capability);
    return {
      ...fixed,
      ...this.#secrets(target),
      ...target.kind === "url" && { listeners: this.#deps.listeners?.() },
      grants: grant === undefined ? [] : [grant],
      latched: latch === undefined || isDamaged(latch) ? [] : [latch],
      canAsk: context.asks !== false && canAsk(context),
      stateDamaged: isDamaged(latch) ? latch.damaged : damaged(),
    };
  }

  /** The one that the target asks for; the others have no say in it. */
  #secrets(target: Target): Pick<Policy, "secrets" | "secretsDamaged"> {
    if (target.kind !== "secret") return { secrets: [], secretsDamaged: undefined };
    try {
      const all = this.#deps.secretStore?.list() ?? [];
      return { secrets: all.filter(({ name }) => name === target.name), secretsDamaged: undefined };
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      return { secrets: [], secretsDamaged: error.message };
    }
  }

  async #refuse(
    action: ResolvedAction,
    context: ActionContext,
    decision: Decision,
  ): Promise<ActionResult> {
    await this.#record(action, context, decision);
    return refusal(action, decision, context);
  }

  /** A refusal stands also when it cannot be recorded: nothing ran either way. */
  async #record(action: ResolvedAction, context: ActionContext, decision: Decision): Promise<void> {
    try {
      await recordAction(this.#deps, { action, context, decision });
    } catch (error) {
      const { code, message } = toErrorData(error);
      if (!(error instanceof ServiceError)) throw error;
      this.#deps.log.error("A refusal cannot be recorded", { code, reason: message });
    }
  }
}

/** The grant that an action would take; undefined for what none can be for. */
function grantFor(
  { capability, target }: ResolvedAction,
  context: ActionContext,
): Grant | undefined {
  const text = grantTarget(target);
  const holder = grantHolder(context);
  if (text === undefined || holder === undefined || !text.isWellFormed()) return undefined;
  const grant = { ...holder, capability, target: text, note: "" };
  try {
    checkGrant(grant);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return undefined;
  }
  return { ...grant, id: "", createdAt: 0 };
}
