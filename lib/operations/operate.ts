/**
 * What operators and approvers ask for, checked where authority is: each request takes a
 * scope, and whoever asks shows a token, or is a listed sender of a channel that verifies its senders, or
 * the terminal that opened the turn. The service passes on what it was given and cannot vouch for anybody.
 *
 * @module
 */

import { ServiceError, toErrorData } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { CanAsk } from "../contract/actions.ts";
import type { Approvals } from "../approvals/approvals.ts";
import { createCredentials, type Known } from "./credentials.ts";
import type { LatchStore } from "../state/latch_store.ts";
import { type Credential, includesScope, type Scope } from "../contract/credentials.ts";
import type { OperatorAnswer, OperatorRequest } from "./operator.ts";
import type { ChannelOperator } from "./channels/operate_channels.ts";
import type { Commissions } from "../approvals/commission/commissions.ts";
import { operateCommissions } from "./operate_commissions.ts";
import type { Upkeep } from "./upkeep.ts";
import type { IssuedTokens } from "../state/issued_tokens.ts";
import type { TokenStore } from "../state/token_store.ts";

/** What checking needs. */
export interface OperatorDeps {
  approvals: Approvals;
  tokens: Pick<TokenStore, "verify" | "hasAny">;
  latches: Pick<LatchStore, "list" | "clear">;
  gates: {
    /** `<channel>:<immutable id>` of those who may answer from a chat. */
    approvers: readonly string[];
    /** Whoever opened the turn may not answer. */
    independentApprover: boolean;
  };
  /** Whether a channel's descriptor says that it verifies senders; false for one that is unknown. */
  verifiesSenders: (channel: string) => boolean;
  /** What the WebSocket port stands on here; absent where none is served. */
  port?: {
    /** Tokens that were issued over it. */
    tokens: IssuedTokens;
    /** Whether `trustedProxyAuth` is set, so that somebody may be known by the proxy's word. */
    trustsProxy: boolean;
  };
  /** Secrets, audit, permissions and settings; absent where none of that is to be had. */
  upkeep?: Upkeep;
  /** Channels and their settings; absent where there are none. */
  channels?: Pick<ChannelOperator, "answer">;
  /** Rehearsals of automations; absent where there are none. */
  commissions?: Commissions;
  log: Pick<Log, "error">;
}

/** A terminal of this process, at which somebody sits. */
export interface Terminal {
  /** Asks for something as the terminal that opened the turn. */
  operate(request: OperatorRequest, turnId: string): Promise<OperatorAnswer>;
  /** Nobody sits there any more. */
  detach(): void;
}

/** The way in for approvers and operators. */
export interface Operator {
  /** What crosses from the service; a terminal's credential never does, so it is refused here. */
  operate(request: OperatorRequest, credential: Credential): Promise<OperatorAnswer>;
  /** Somebody sits at a terminal of this process and opens turns in that session. */
  attachTerminal(sessionKey: () => string): Terminal;
  /** Whether anybody could answer at all; without one an action that asks is refused at once. */
  canAsk: CanAsk;
}

/** What a request takes. */
const NEEDED: Readonly<Record<OperatorRequest["op"], Scope>> = {
  "approvals.list": "approve",
  "approvals.get": "approve",
  "approvals.approve": "approve",
  "approvals.deny": "approve",
  "latches.list": "approve",
  "latches.clear": "operate",
  "secrets.list": "secrets",
  "secrets.set": "secrets",
  "secrets.remove": "secrets",
  "audit.list": "operate",
  "audit.verify": "operate",
  "permissions.list": "read",
  "settings.get": "read",
  "settings.change": "operate",
  "channels.list": "read",
  "channels.validate": "operate",
  "channels.set": "operate",
  "channels.enable": "operate",
  "channels.disable": "operate",
  "channels.connect": "operate",
  "automations.commission.begin": "operate",
  "automations.commission.finish": "operate",
  "automations.finding": "operate",
  "automations.grant": "operate",
  "automations.revoke": "operate",
  // Of these the credential itself is the question.
  "tokens.issue_api": "operate",
  "tokens.check": "operate",
};

/** Makes the way in. */
export function createOperator(deps: OperatorDeps): Operator {
  const { approvals, tokens, port, latches, gates, verifiesSenders, log } = deps;
  const credentials = createCredentials(deps);
  const terminals = new Map<symbol, () => string>();

  /** Records an answer of somebody who is not let through at all, if what he names waits. */
  async function refuse(request: OperatorRequest, credential: Credential, error: unknown) {
    if (request.op !== "approvals.approve" && request.op !== "approvals.deny") return;
    const by = credential.kind === "sender"
      ? `sender:${credential.sender}`
      : credential.kind === "identity"
      ? `sender:${credential.actor}`
      : credential.kind;
    await approvals.refused(request.id, by, toErrorData(error).code);
  }

  async function run(request: OperatorRequest, known: Known): Promise<OperatorAnswer> {
    const needed = NEEDED[request.op];
    if (needed === undefined) {
      throw new ServiceError("invalid_request", `There is no operation "${request.op}"`);
    }
    if (!includesScope(known.scopes, needed)) {
      throw new ServiceError("insufficient_scope", `The scope ${needed} is needed for this`);
    }
    switch (request.op) {
      case "approvals.list":
        return { approvals: approvals.list() };
      case "approvals.get":
        return { approval: approvals.get(request.id) };
      case "approvals.approve":
      case "approvals.deny":
        await approvals.answer({
          id: request.id,
          verdict: request.op === "approvals.approve"
            ? { approve: { digest: request.digest } }
            : { deny: { reason: request.reason } },
          by: known.by,
          isChat: known.isChat,
          objection: (context) => credentials.objection(known, context),
        });
        return { done: true };
      case "latches.list":
        return { latches: latches.list() };
      case "latches.clear":
        if (!await latches.clear(request.sessionKey, request.capability)) {
          throw new ServiceError(
            "not_found",
            `Nothing is denied of ${request.capability} in the session "${request.sessionKey}"`,
          );
        }
        return { done: true };
      case "secrets.list":
      case "secrets.set":
      case "secrets.remove":
      case "audit.list":
      case "audit.verify":
      case "permissions.list":
      case "settings.get":
      case "settings.change":
        if (deps.upkeep === undefined) {
          throw new ServiceError("not_enabled", `${request.op} is not to be had from here`);
        }
        return await deps.upkeep.answer(request, known.by);
      case "channels.list":
      case "channels.validate":
      case "channels.set":
      case "channels.enable":
      case "channels.disable":
      case "channels.connect":
        if (deps.channels === undefined) {
          throw new ServiceError("not_enabled", `${request.op} is not to be had from here`);
        }
        return await deps.channels.answer(request, known.by);
      case "automations.commission.begin":
      case "automations.commission.finish":
      case "automations.finding":
      case "automations.grant":
      case "automations.revoke":
        return await operateCommissions(request, known.by, deps.commissions);
      case "tokens.issue_api":
      case "tokens.check":
        throw new ServiceError(
          "invalid_request",
          `${request.op} is asked with what is shown for it`,
        );
    }
  }

  return {
    async operate(request, credential) {
      if (request.op === "tokens.issue_api" || request.op === "tokens.check") {
        return credentials.answerOfTokens(request, credential);
      }
      if (request.op === "automations.commission.finish" || request.op === "automations.revoke") {
        // The first ends what its id, known to nobody else, was begun with; the other only takes away.
        return await operateCommissions(request, "service", deps.commissions);
      }
      let known: Known;
      try {
        known = credentials.identify(credential);
      } catch (error) {
        await refuse(request, credential, error).catch((cause) =>
          log.error("A refused answer is not on record", { reason: toErrorData(cause).message })
        );
        throw error;
      }
      return await run(request, known);
    },
    attachTerminal(sessionKey) {
      const seat = Symbol();
      terminals.set(seat, sessionKey);
      return {
        operate: (request, turnId) => {
          const known: Known = {
            by: "terminal",
            scopes: ["approve"],
            turnId,
            isChat: false,
            isTerminal: true,
          };
          return run(request, known);
        },
        detach: () => void terminals.delete(seat),
      };
    },
    canAsk({ sessionKey, actor }) {
      if (tokens.hasAny("approve")) return true;
      const mayBeOwn = gates.independentApprover && actor.startsWith("websocket:");
      if (!mayBeOwn && port?.tokens.hasAny("approve")) return true;
      if (
        gates.approvers.some((sender) => verifiesSenders(sender.slice(0, sender.indexOf(":"))))
      ) return true;
      return !gates.independentApprover &&
        [...terminals.values()].some((session) => session() === sessionKey);
    },
  };
}
