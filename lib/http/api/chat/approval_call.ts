/**
 * An action that waits for a person, as a tool call of the service: offered to a client that names the
 * function `service_approval` among its tools, and answered by the tool message of that call.
 *
 * @module
 */

import { z } from "zod";
import type { ApprovalView } from "../../../contract/actions.ts";
import { approvalOnWire } from "../../../contract/wire/approval_on_wire.ts";
import { ServiceError } from "../../../base/errors.ts";
import { check } from "../../../listen/request_error.ts";
import { approveInput, denyInput } from "../../../operations/approvals.ts";

/** The function that a client names to be asked. */
export const APPROVAL_TOOL = "service_approval";

/** Begins the id of such a call; the approval's own id follows. */
const CALL_PREFIX = "approval_";
/** Characters of an answer: its longest reason with every character escaped, and a token. */
const MAX_ANSWER_CHARS = 16_000;
/** Characters of an id that are looked at; it is the authority's to refuse. */
const MAX_ID_CHARS = 100;

/** Content of the tool message, once it is read as JSON. */
export const approvalAnswerSchema = z.object({
  decision: z.enum(["approve", "deny"], "approve or deny"),
  digest: approveInput.shape.digest.nullish(),
  reason: denyInput.shape.reason.nullable(),
  token: z.string("a token with the scope approve").max(1_000, "a token").nullish(),
}, "an object with decision");

/** What a client says about an action that waits. */
export interface ApprovalAnswer extends z.infer<typeof approvalAnswerSchema> {
  /** Of the approval. */
  id: string;
}

/** Whether the field `tools` of a request names the function; anything may stand in it. */
export function asksForApprovals(tools: unknown): boolean {
  return Array.isArray(tools) && tools.some((tool) => tool?.function?.name === APPROVAL_TOOL);
}

/** The call in an answer of the chat route. */
export function approvalCall(approval: ApprovalView) {
  return {
    id: CALL_PREFIX + approval.id,
    type: "function",
    function: { name: APPROVAL_TOOL, arguments: JSON.stringify(approvalOnWire(approval)) },
  } as const;
}

/** Id of the approval whose call a message answers; undefined for every other message. */
export function answeredApproval(
  message: { role: string; tool_call_id?: unknown } | undefined,
): string | undefined {
  if (message?.role !== "tool" || typeof message.tool_call_id !== "string") return undefined;
  const { tool_call_id: id } = message;
  return id.startsWith(CALL_PREFIX)
    ? id.slice(CALL_PREFIX.length).slice(0, MAX_ID_CHARS)
    : undefined;
}

/** The answer in the text of a tool message, whose `path` is where it stands in the request. */
export function readApprovalAnswer(
  id: string,
  text: string,
  path: readonly PropertyKey[],
): ApprovalAnswer {
  return { id, ...check(approvalAnswerSchema, parse(text), path) };

  // What it says is not repeated: a token may stand in it.
  function parse(text: string): unknown {
    const param = `messages[${String(path[1])}].content`;
    const expected = `${param} must be JSON such as {"decision":"approve"}`;
    if (text.length > MAX_ANSWER_CHARS) {
      throw new ServiceError(
        "invalid_request",
        `${expected} of at most ${MAX_ANSWER_CHARS} characters, got ${text.length}`,
        { param },
      );
    }
    try {
      return JSON.parse(text);
    } catch {
      throw new ServiceError("invalid_request", `${expected}, got other text`, { param });
    }
  }
}
