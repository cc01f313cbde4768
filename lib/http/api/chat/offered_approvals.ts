/**
 * Approvals that clients of the chat route were asked about: each keeps the seat of a client that has
 * gone to ask its person, and gives it back to the request that brings the answer.
 *
 * @module
 */

import type { Clock } from "../../../base/clock.ts";
import { ServiceError } from "../../../base/errors.ts";
import type { ApprovalView } from "../../../contract/actions.ts";
import type { Credential } from "../../../contract/credentials.ts";
import type { TurnHandle, Turns } from "../../../contract/turns.ts";
import type { Operate } from "../../../operations/operations.ts";
import { bearer } from "../../auth.ts";
import type { AuthFailures } from "../../auth_failures.ts";
import { countedFailure } from "../approvals.ts";
import { type Opened, type OpenTurn, seat } from "../open_turn.ts";
import { type Readers, REPEAT_GRACE_MS } from "../readers.ts";
import { readRequestKey } from "../request_key.ts";
import type { ApprovalAnswer } from "./approval_call.ts";

/** The last so many are remembered; no more can wait at once. */
const MAX_OFFERS = 1_000;

const OUTCOMES = { approve: "approved", deny: "denied" } as const;

/** What they work with. */
export interface OfferedApprovalsDeps {
  turns: Pick<Turns, "find" | "repeated">;
  readers: Readers;
  /** Asks the authority, which checks the credential of an answer. */
  operate: Operate;
  failures: AuthFailures;
  /** Digest of the key that the caller has shown. */
  credential: string;
  clock: Clock;
}

/** One that was told, whether it waits or not. */
interface Offer {
  turnId: string;
  sessionKey: string;
  digest: string;
  /** Gives up the seat that is kept. */
  release(): void;
}

/** The approvals that were offered. */
export class OfferedApprovals {
  readonly #deps: OfferedApprovalsDeps;
  readonly #offers = new Map<string, Offer>();

  constructor(deps: OfferedApprovalsDeps) {
    this.#deps = deps;
  }

  /**
   * Keeps a seat of the turn until the approval has expired, and a little longer, so that nothing else
   * ends its wait. False when it waits no more. `approver`: of the answer to the one before, which may
   * have settled this one too.
   */
  async offer(
    turn: TurnHandle,
    { id, digest, expiresAt }: ApprovalView,
    approver?: Credential,
  ): Promise<boolean> {
    const { readers, operate, clock } = this.#deps;
    const leftMs = expiresAt - clock.now();
    if (leftMs <= 0 || readers.hasEnded(turn.id)) return false;
    const waits = approver === undefined ||
      await operate({ op: "approvals.get", id }, approver).then(() => true, () => false);
    if (!waits) return false;
    // A repeat of a request is told of it again.
    if (this.#offers.has(id)) return true;
    const leave = readers.join(turn, { graceMs: 0 });
    const cancelTimer = clock.after(leftMs + REPEAT_GRACE_MS, leave);
    const release = () => {
      cancelTimer();
      leave();
    };
    this.#offers.set(id, {
      turnId: turn.id,
      sessionKey: turn.turn.sessionKey,
      digest,
      release,
    });
    if (this.#offers.size > MAX_OFFERS) this.#offers.delete(this.#offers.keys().next().value!);
    return true;
  }

  /**
   * Answers one, and takes a seat of its turn. The decision that was made already, here or elsewhere, is
   * no error. Throws what is wrong with the answer; then it still waits, or came out before.
   */
  async answer(
    answer: ApprovalAnswer,
    asked: Pick<OpenTurn, "route" | "sessionId" | "request" | "context">,
  ): Promise<Opened & { approver: Credential }> {
    const { turns, readers, failures, credential } = this.#deps;
    const { request, context } = asked;
    const sessionKey = `api:${asked.sessionId}`;
    const { token: _, ...fields } = answer;
    const requestKey = readRequestKey({ ...asked, sessionKey, credential, parts: [], fields });
    // The answer is what it repeats; a key must not be that of another request.
    if (requestKey !== undefined) turns.repeated(requestKey);
    const offer = this.#offers.get(answer.id);
    const isHere = offer?.sessionKey === sessionKey;
    const turn = isHere ? turns.find(offer.turnId) : undefined;
    const token = answer.token ?? bearer(request.headers.get("authorization"));
    if (token === undefined) throw needsToken();
    const approver = { kind: "token", token: token.slice(0, 1_000) } as const;
    try {
      if (!isHere || turn === undefined) throw await this.#notHere(answer.id, sessionKey, approver);
      await this.#decide(answer, offer, turn, approver);
    } catch (error) {
      const failure = countedFailure(error, failures, context.peer);
      const isNone = failure instanceof ServiceError && failure.code === "invalid_token";
      throw isNone ? needsToken() : failure;
    }
    context.accepted = true;
    const leave = readers.join(turn, { graceMs: requestKey === undefined ? 0 : REPEAT_GRACE_MS });
    offer.release();
    return { answer: turn, turn, repeated: false, approver, ...seat(request.signal, leave) };
  }

  async #decide(
    { id, decision, digest, reason }: ApprovalAnswer,
    offer: Offer,
    turn: TurnHandle,
    approver: Credential,
  ): Promise<void> {
    const { operate } = this.#deps;
    const isOther = digest !== undefined && digest !== null && digest !== offer.digest;
    if (isOther && decision === "deny") {
      await operate({ op: "approvals.get", id }, approver);
      throw new ServiceError(
        "approval_mismatch",
        `digest is not that of the action that waits as ${id}; it still waits`,
        { param: "digest" },
      );
    }
    try {
      await (decision === "approve"
        ? operate({ op: "approvals.approve", id, digest: digest ?? offer.digest }, approver)
        : operate({ op: "approvals.deny", id, reason: reason ?? undefined }, approver));
    } catch (error) {
      const isAnswered = error instanceof ServiceError && error.code === "approval_answered";
      const isSame = isAnswered && !isOther && await outcomeOf(turn, id) === OUTCOMES[decision];
      if (!isSame) throw error;
    }
  }

  /** Why there is nothing to answer here; the authority tells an approver alone what became of it. */
  async #notHere(id: string, sessionKey: string, approver: Credential): Promise<ServiceError> {
    await this.#deps.operate({ op: "approvals.get", id }, approver);
    return new ServiceError(
      "approval_not_found",
      `The approval ${id} waits, but not as a tool call of the session ${sessionKey}: answer it ` +
        `there, or with "service approvals approve ${id}"`,
      { param: "id" },
    );
  }
}

/** How an approval came out that was answered. */
async function outcomeOf(turn: TurnHandle, id: string): Promise<string | undefined> {
  for await (const { event } of turn.events()) {
    if (event.type === "approval_resolved" && event.approvalId === id) return event.outcome;
  }
}

function needsToken(): ServiceError {
  return new ServiceError(
    "insufficient_scope",
    "An approval takes a token with the scope approve, as the API key of the request or as the " +
      "field token of the answer: issue one with service tokens issue --scopes approve",
  );
}
