/**
 * Who somebody is by what he shows, and what he may answer: the one place where tokens, senders and the
 * proxy's word are checked.
 *
 * @module
 */

import { ServiceError } from "../base/errors.ts";
import type { ActionContext } from "../contract/actions.ts";
import { type Credential, includesScope, type Scope } from "../contract/credentials.ts";
import type { OperationRequest, OperationResult } from "./operations.ts";
import type { CREDENTIAL_OPERATIONS } from "./credential_operations.ts";
import type { TokenOwner } from "../state/token_store.ts";
import type { OperatorDeps } from "./operator.ts";

/** Somebody who has shown who he is. */
export interface Known {
  by: string;
  scopes: readonly Scope[];
  /** Undefined: any turn's. */
  turnId?: string;
  isChat: boolean;
  isTerminal: boolean;
  /** He could have opened a turn over the WebSocket port himself, under a `client_id` of his choice. */
  opensSockets?: boolean;
  /** Why he answers no approval at all. */
  mayNotAnswer?: string;
}

/** What checking goes by. */
export type CredentialsDeps = Pick<OperatorDeps, "gates" | "port" | "verifiesSenders"> & {
  tokens: Pick<OperatorDeps["tokens"], "verify">;
};

export class Credentials {
  readonly #deps: CredentialsDeps;

  constructor(deps: CredentialsDeps) {
    this.#deps = deps;
  }

  /** Whose it is. Throws `invalid_token`, or `insufficient_scope` for a sender who may answer nothing. */
  identify(credential: Credential): Known {
    switch (credential.kind) {
      case "token":
        return this.#knownToken(String(credential.token));
      case "sender":
        return this.#knownSender(String(credential.sender));
      case "identity":
        return this.#knownIdentity(String(credential.actor));
      default:
        throw new ServiceError("invalid_token", "Only a token or a sender can be shown from here");
    }
  }

  /** What is asked about a credential itself. */
  answerOfTokens(
    request: OperationRequest<keyof typeof CREDENTIAL_OPERATIONS>,
    credential: Credential,
  ): OperationResult<keyof typeof CREDENTIAL_OPERATIONS> {
    if (request.op === "tokens.check") {
      if (credential.kind !== "token") {
        throw new ServiceError("invalid_token", "Only a token can be checked");
      }
      const { id, scopes, expiresAt } = this.#ownerOf(String(credential.token));
      return { id, scopes, ...expiresAt !== undefined && { expiresAt } };
    }
    const { port } = this.#deps;
    if (port === undefined) throw new ServiceError("not_enabled", "No tokens are issued here");
    if (credential.kind !== "issue_secret") {
      throw new ServiceError(
        "invalid_token",
        "A token is issued to whoever shows the secret alone",
      );
    }
    const secret = credential.secret === undefined ? undefined : String(credential.secret);
    return port.tokens.issue({ scopes: request.scopes, secret });
  }

  /** Why somebody may not answer an approval of that turn; undefined when he may. */
  objection(known: Known, context: ActionContext): string | undefined {
    if (known.turnId !== undefined && known.turnId !== context.turnId) {
      return "another terminal opened the turn";
    }
    if (known.mayNotAnswer !== undefined) return known.mayNotAnswer;
    if (!this.#deps.gates.independentApprover) return undefined;
    const opened = known.isTerminal || isSame(known.by, context.actor) ||
      (known.opensSockets && context.actor.startsWith("websocket:")) ||
      isSame(known.by.replace(/^sender:/, ""), context.actor);
    return opened
      ? "gates.independentApprover wants somebody else than who opened the turn"
      : undefined;
  }

  #ownerOf(token: string): TokenOwner & { isIssued: boolean } {
    const { tokens, port } = this.#deps;
    const lasting = tokens.verify(token);
    const owner = lasting ?? port?.tokens.verify(token);
    if (owner === undefined) {
      throw new ServiceError(
        "invalid_token",
        "The token is none of an approver or operator, was revoked, or has expired",
      );
    }
    return { ...owner, isIssued: lasting === undefined };
  }

  #knownToken(token: string): Known {
    const { id, scopes, isIssued } = this.#ownerOf(token);
    return {
      by: `token:${id}`,
      scopes,
      isChat: false,
      isTerminal: false,
      opensSockets: isIssued || includesScope(scopes, "chat"),
    };
  }

  #knownIdentity(actor: string): Known {
    const { port, gates } = this.#deps;
    if (!port?.trustsProxy || !actor.startsWith("webui:")) {
      throw new ServiceError("invalid_token", "There is no proxy whose word would count here");
    }
    return {
      by: `sender:${actor}`,
      scopes: ["operate"],
      isChat: false,
      isTerminal: false,
      mayNotAnswer: gates.approvers.includes(actor)
        ? undefined
        : "gates.approvers does not list this person",
    };
  }

  #knownSender(sender: string): Known {
    const { gates, verifiesSenders } = this.#deps;
    const channel = sender.slice(0, Math.max(0, sender.indexOf(":")));
    if (!verifiesSenders(channel)) {
      throw new ServiceError(
        "insufficient_scope",
        `Nobody can answer an approval from here: the channel "${channel}" does not prove who writes. ` +
          "Use a token: service approvals approve ID",
      );
    }
    if (!gates.approvers.includes(sender)) {
      throw new ServiceError("insufficient_scope", "gates.approvers does not list this sender");
    }
    return { by: `sender:${sender}`, scopes: ["approve"], isChat: true, isTerminal: false };
  }
}

/** Whether two names are of the same one, in any spelling; only ever used to refuse. */
function isSame(one: string, other: string): boolean {
  return fold(one) === fold(other);
}

function fold(name: string): string {
  return name.normalize("NFKC").toLowerCase().replace(
    /[\s\p{C}\p{Default_Ignorable_Code_Point}]/gu,
    "",
  );
}
