/**
 * `/approve ID DIGEST` and `/deny ID [REASON]`: words that are for the authority, and never part of a
 * history.
 *
 * @module
 */

import { ServiceError } from "../base/errors.ts";
import type { ApprovalRequest, ChatCommand, CommandCall, CommandPorts } from "./chat_command.ts";

/** What the words after the name ask of the authority, or what is missing. */
export function readApproval(
  name: "approve" | "deny",
  rest: string,
): ApprovalRequest | { usage: string } {
  const [, id, after] = /^(\S*)\s*([^]*)$/u.exec(rest)!;
  if (name === "deny") {
    if (id === "") return { usage: "Expected: /deny ID [REASON]" };
    return { op: "approvals.deny", id: id!.slice(0, 100), reason: after!.trim().slice(0, 10_000) };
  }
  const digest = after!.trim();
  if (id === "" || !/^[0-9a-f]{8,64}$/i.test(digest)) {
    return { usage: "Expected: /approve ID DIGEST, the first 8 digits of it or more" };
  }
  return { op: "approvals.approve", id: id!.slice(0, 100), digest };
}

async function answer(
  name: "approve" | "deny",
  { rest, actor, senderVerified = true }: CommandCall,
  { operate }: CommandPorts,
): Promise<string> {
  const request = readApproval(name, rest);
  if ("usage" in request) return `${request.usage}.`;
  const done = name === "approve" ? "approved" : "denied";
  if (!senderVerified) {
    return `Not ${done}: this channel does not prove who writes. ` +
      "Use a token: service approvals approve ID.";
  }
  try {
    await operate(request, { kind: "sender", sender: actor });
    return `${name === "approve" ? "Approved" : "Denied"} ${request.id}.`;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return `Not ${done}: ${error.message}.`;
  }
}

/** The two, as entries of the table. */
export const APPROVAL_COMMANDS: readonly ChatCommand[] = [
  {
    name: "approve",
    args: "ID DIGEST",
    summary: "Approve a pending action",
    rule: "approver",
    run: (call, ports) => answer("approve", call, ports),
  },
  {
    name: "deny",
    args: "ID [REASON]",
    summary: "Deny a pending action",
    rule: "approver",
    run: (call, ports) => answer("deny", call, ports),
  },
];
