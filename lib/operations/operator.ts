/**
 * What operators and approvers ask for, checked where authority is: each request takes a
 * scope, and whoever asks shows a token, or is a listed sender of a channel that verifies its senders, or
 * the terminal that opened the turn. The service passes on what it was given and cannot vouch for anybody.
 *
 * @module
 */

import { ServiceError, toErrorData } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { checkSilently } from "../listen/check_silently.ts";
import { check } from "../listen/request_error.ts";
import type { CanAsk } from "../contract/actions.ts";
import { Credentials, type Known } from "./credentials.ts";
import { type Credential, includesScope } from "../contract/credentials.ts";
import type { Operate, OperationName, OperationRequest, OperationResult } from "./operations.ts";
import type { Approvals } from "../approvals/approvals.ts";
import type { Parts } from "./parts.ts";
import type { IssuedTokens } from "../state/issued_tokens.ts";
import type { TokenStore } from "../state/token_store.ts";

/** What checking needs, and what operations work on. */
export interface OperatorDeps extends Parts {
  approvals: Approvals;
  tokens: Pick<TokenStore, "verify" | "hasAny">;
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
  log: Pick<Log, "error">;
}

/** A terminal of this process, at which somebody sits. */
export interface Terminal {
  /** Asks for something as the terminal that opened the turn. */
  operate<Name extends OperationName>(
    request: OperationRequest<Name>,
    turnId: string,
  ): Promise<OperationResult<Name>>;
  /** Nobody sits there any more. */
  detach(): void;
}

/** A start in which nobody asks for anything doesn't load it. */
const table = () => import("./operations.ts");

/** By whose word something is ended or taken away. */
const GATEWAY: Known = { by: "service", scopes: [], isChat: false, isTerminal: false };

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

  /** What crosses from the gateway; a terminal's credential never does, so it is refused here. */
  readonly operate: Operate = (async (request: OperationRequest, credential: Credential) => {
    if (request.op === "tokens.issue_api" || request.op === "tokens.check") {
      return this.#credentials.answerOfTokens(request, credential);
    }
    const { findOperation } = await table();
    if (findOperation(request.op)?.scope === "gateway") return await this.#run(request, GATEWAY);
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
  }) as Operate;

  /** Somebody sits at a terminal of this process and opens turns in that session. */
  attachTerminal(sessionKey: () => string): Terminal {
    const seat = Symbol();
    this.#terminals.set(seat, sessionKey);
    const known: Known = { by: "terminal", scopes: ["approve"], isChat: false, isTerminal: true };
    return {
      operate:
        ((request: OperationRequest, turnId: string) =>
          this.#run(request, { ...known, turnId })) as Terminal["operate"],
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
  async #refuse(request: OperationRequest, credential: Credential, error: unknown): Promise<void> {
    if (request.op !== "approvals.approve" && request.op !== "approvals.deny") return;
    const by = credential.kind === "sender"
      ? `sender:${credential.sender}`
      : credential.kind === "identity"
      ? `sender:${credential.actor}`
      : credential.kind;
    await this.#deps.approvals.refused(request.id, by, toErrorData(error).code);
  }

  async #run({ op, ...given }: OperationRequest, known: Known): Promise<unknown> {
    const operation = (await table()).findOperation(op);
    if (operation === undefined) {
      throw new ServiceError("invalid_request", `Unknown operation ${JSON.stringify(op)}`);
    }
    const { scope, input, confidential } = operation;
    if (scope !== "gateway" && !includesScope(known.scopes, scope)) {
      throw new ServiceError("insufficient_scope", `This needs the scope ${scope}`);
    }
    const checked = confidential ? checkSilently(input, given) : check(input, given);
    return await operation.run(checked, this.#deps, {
      by: known.by,
      isChat: known.isChat,
      objection: (context) => this.#credentials.objection(known, context),
    });
  }
}
