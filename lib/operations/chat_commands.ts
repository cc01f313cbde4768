/**
 * Commands of chats that are operations, such as `/approve ID DIGEST`: they take the fields of the
 * operation in their order, the last one with all the words that are left. They are for the authority,
 * and never part of a history.
 *
 * @module
 */

import type { z } from "zod";
import { ServiceError } from "../base/errors.ts";
import type { ChatCommand } from "../agent/chat_command.ts";
import type { Credential } from "../contract/credentials.ts";
import { check } from "../listen/request_error.ts";
import type { Operation } from "./operation.ts";
import { type OperationRequest, type OperationResult, OPERATIONS } from "./operations.ts";

/** Asks the authority as the sender of a message; rejects with its ServiceError. */
export type OperateAsSender = (
  request: OperationRequest,
  credential: Credential,
) => Promise<unknown>;

/** All of them, in the order of the table. */
export function operationCommands(operate: OperateAsSender): ChatCommand[] {
  return Object.entries<Operation>(OPERATIONS as never)
    .flatMap(([op, operation]) => commandOf(op, operation, operate));
}

function commandOf(
  op: string,
  { chatCommand: name, summary, input, command }: Operation,
  operate: OperateAsSender,
): ChatCommand[] {
  if (name === undefined) return [];
  const fields = Object.entries<z.ZodType>(input.shape);
  const isNeeded = ([, schema]: typeof fields[number]) => !schema.safeParse(undefined).success;
  const args = fields
    .map((field) => isNeeded(field) ? field[0].toUpperCase() : `[${field[0].toUpperCase()}]`)
    .join(" ");
  return [{
    name,
    args,
    summary,
    rule: "approver",
    async run({ rest, actor, senderVerified = true }) {
      const given = readFields(fields.map(([field]) => field), rest);
      if (fields.filter(isNeeded).some(([field]) => given[field] === undefined)) {
        return `Expected: /${name} ${args}.`;
      }
      if (!senderVerified) {
        throw new ServiceError(
          "insufficient_scope",
          `this channel does not prove who writes. Use a token: service ${command} ID`,
        );
      }
      const request = { op, ...check(input, given) } as OperationRequest;
      const answer = await operate(request, { kind: "sender", sender: actor });
      const { id, outcome } = answer as OperationResult<"approvals.approve">;
      return `${outcome[0]!.toUpperCase()}${outcome.slice(1)} ${id}.`;
    },
  }];
}

/** A word each, and to the last one all that is left. */
function readFields(names: readonly string[], text: string): Record<string, string | undefined> {
  let rest = text;
  const fields = names.map((name, at) => {
    const word = at < names.length - 1 ? /^\S*/.exec(rest)![0] : rest;
    rest = rest.slice(word.length).trimStart();
    return [name, word === "" ? undefined : word];
  });
  return Object.fromEntries(fields);
}
