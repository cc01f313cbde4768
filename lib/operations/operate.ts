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
import { Credentials, type Known } from "./credentials.ts";
import type { LatchStore } from "../state/latch_store.ts";
import { type Credential, includesScope, type Scope } from "../contract/credentials.ts";
import type { Operate, OperatorAnswer, OperatorRequest } from "./operator.ts";
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

/** The way in for approvers and operators. */
export class Operator {
  readonly #deps: OperatorDeps;
  readonly #credentials: Credentials;
  /** Sessions in which terminals of this process open turns. */
  readonly #terminals = new Map<symbol, () => string>();

  constructor(deps: OperatorDeps) {
    this.#deps = deps;
    this.#credentials = new Credentials(deps);
  }

  /** What crosses from the service; a terminal's credential never does, so it is refused here. */
  readonly operate: Operate = async (request, credential) => {
    if (request.op === "tokens.issue_api" || request.op === "tokens.check") {
      return this.#credentials.answerOfTokens(request, credential);
    }
    if (request.op === "automations.commission.finish" || request.op === "automations.revoke") {
      // The first ends what its id, known to nobody else, was begun with; the other only takes away.
      return await operateCommissions(request, "service", this.#deps.commissions);
    }
    let known: Known;
    try {
      known = this.#credentials.identify(credential);
    } catch (error) {
      await this.#refuse(request, credential, error).catch((cause) =>
        this.#deps.log.error("A refused answer is not on record", {
          reason: toErrorData(cause).message,
        })
      );
      throw error;
    }
    return await this.#run(request, known);
  };

  /** Somebody sits at a terminal of this process and opens turns in that session. */
  attachTerminal(sessionKey: () => string): Terminal {
    const seat = Symbol();
    this.#terminals.set(seat, sessionKey);
    const known: Known = { by: "terminal", scopes: ["approve"], isChat: false, isTerminal: true };
    return {
      operate: (request, turnId) => this.#run(request, { ...known, turnId }),
      detach: () => void this.#terminals.delete(seat),
    };
  }

  /** Whether anybody could answer at all; without one an action that asks is refused at once. */
  readonly canAsk: CanAsk = ({ sessionKey, actor }) => {
    const { tokens, port, gates: { approvers, independentApprover }, verifiesSenders } = this.#deps;
    if (tokens.hasAny("approve")) return true;
    const mayBeOwn = independentApprover && actor.startsWith("websocket:");
    if (!mayBeOwn && port?.tokens.hasAny("approve")) return true;
    if (approvers.some((sender) => verifiesSenders(sender.slice(0, sender.indexOf(":"))))) {
      return true;
    }
    return !independentApprover &&
      [...this.#terminals.values()].some((session) => session() === sessionKey);
  };

  /** Records an answer of somebody who is not let through at all, if what he names waits. */
  async #refuse(request: OperatorRequest, credential: Credential, error: unknown): Promise<void> {
    if (request.op !== "approvals.approve" && request.op !== "approvals.deny") return;
    const by = credential.kind === "sender"
      ? `sender:${credential.sender}`
      : credential.kind === "identity"
      ? `sender:${credential.actor}`
      : credential.kind;
    await this.#deps.approvals.refused(request.id, by, toErrorData(error).code);
  }

  async #run(request: OperatorRequest, known: Known): Promise<OperatorAnswer> {
    const needed = NEEDED[request.op];
    if (needed === undefined) {
      throw new ServiceError("invalid_request", `There is no operation "${request.op}"`);
    }
    if (!includesScope(known.scopes, needed)) {
      throw new ServiceError("insufficient_scope", `The scope ${needed} is needed for this`);
    }
    return await this.#answer(request, known);
  }

  async #answer(request: OperatorRequest, known: Known): Promise<OperatorAnswer> {
    const { approvals, latches, upkeep, channels, commissions } = this.#deps;
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
          objection: (context) => this.#credentials.objection(known, context),
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
        return await enabled(request, upkeep).answer(request, known.by);
      case "channels.list":
      case "channels.validate":
      case "channels.set":
      case "channels.enable":
      case "channels.disable":
      case "channels.connect":
        return await enabled(request, channels).answer(request, known.by);
      case "automations.commission.begin":
      case "automations.commission.finish":
      case "automations.finding":
      case "automations.grant":
      case "automations.revoke":
        return await operateCommissions(request, known.by, commissions);
      case "tokens.issue_api":
      case "tokens.check":
        throw new ServiceError(
          "invalid_request",
          `${request.op} is asked with what is shown for it`,
        );
    }
  }
}

function enabled<T>({ op }: OperatorRequest, part: T | undefined): T {
  if (part !== undefined) return part;
  throw new ServiceError("not_enabled", `${op} is not to be had from here`);
}
