/**
 * The tools that are operations of the table: name, description and schemas are the operation's. What the
 * table calls the `key` of a session is the `session_id` that `ask` takes and answers.
 *
 * @module
 */

import { z } from "zod";
import { ServiceError } from "../../base/errors.ts";
import type { GatewayOperation } from "../../operations/operation.ts";
import { GATEWAY_OPERATIONS } from "../../operations/operations.ts";
import type { AgentAccess } from "./agent_access.ts";
import { type AgentTool, agentTool } from "./agent_tool.ts";

/** Characters of one text of an answer, and of all its texts. */
const MAX_TEXT_CHARS = 20_000;
const MAX_ALL_CHARS = 400_000;
/** A text of so many is never cut: it may be a name. */
const SHORT_CHARS = 200;

const ID = "at most 200 characters";
const sessionId = z.string("an id").max(SHORT_CHARS, ID)
  .describe("As list_sessions and ask answer it.");

/** All of them, in the order of the table. */
export const OPERATION_TOOLS: readonly AgentTool[] = Object
  .entries(GATEWAY_OPERATIONS as unknown as Record<string, GatewayOperation>)
  .filter(([, { mcpTool }]) => mcpTool !== undefined)
  .map(([op, operation]) => toolOf(op, operation));

function toolOf(op: string, { mcpTool, summary, scope, input, output }: GatewayOperation) {
  const readOnlyHint = scope === "read";
  return agentTool({
    name: mcpTool!,
    title: summary,
    description: `${summary}.`,
    args: named(input) as z.ZodType<Record<string, unknown>>,
    result: named(output),
    annotations: {
      readOnlyHint,
      destructiveHint: !readOnlyHint,
      idempotentHint: readOnlyHint,
      openWorldHint: false,
    },
    async run({ session_id: id, ...fields }, { access, signal }) {
      const key = typeof id === "string" ? { key: keyOf(id, access) } : {};
      const answer = await access.operate({ op, ...fields, ...key }, signal).catch((error) => {
        const isMissing = error instanceof ServiceError && error.details.param === "key";
        // By the name that the client knows it by.
        throw isMissing ? new ServiceError(error.code, `There is no session "${id}"`) : error;
      });
      const told = bounded(naming(output, answer, access), { chars: MAX_ALL_CHARS });
      // For models as text, for programs as data.
      const text = JSON.stringify(told, null, 1);
      return {
        content: [{ type: "text", text }],
        structuredContent: told as Record<string, unknown>,
      };
    },
  });
}

/** A schema as clients are shown it. */
function named(schema: z.core.$ZodType): z.ZodType {
  if (schema instanceof z.ZodArray) return z.array(named(schema.element));
  if (!(schema instanceof z.ZodObject)) return schema as z.ZodType;
  const fields = Object.entries(schema.shape).map(([name, field]) =>
    name === "key" ? ["session_id", sessionId] : [name, named(field)]
  );
  return z.strictObject(Object.fromEntries(fields));
}

/** A value of a schema, as {@linkcode named} has it. */
function naming(schema: z.core.$ZodType, value: unknown, access: AgentAccess): unknown {
  if (schema instanceof z.ZodArray) {
    return (value as unknown[]).map((each) => naming(schema.element, each, access));
  }
  if (!(schema instanceof z.ZodObject)) return value;
  const fields = Object.entries(value as object).map(([name, field]) =>
    name === "key"
      ? ["session_id", idOf(field, access)]
      : [name, naming(schema.shape[name], field, access)]
  );
  return Object.fromEntries(fields);
}

/** How a client names a session: one of its own channel by what stands behind that. */
function idOf(key: string, { channel }: AgentAccess): string {
  return key.startsWith(`${channel}:`) ? key.slice(channel.length + 1) : key;
}

function keyOf(id: string, { channel, readsAll }: AgentAccess): string {
  // As `list_sessions` names one of another channel; an id of its own channel may hold a colon too.
  const isKey = readsAll && /^[A-Za-z][A-Za-z0-9_]*(\.[A-Za-z0-9_-]+)?:/.test(id);
  return isKey ? id : `${channel}:${id}`;
}

/** With its texts cut, the first ones soonest. */
function bounded(value: unknown, room: { chars: number }): unknown {
  if (typeof value === "string") {
    if (value.length <= SHORT_CHARS) return value;
    const kept = Math.min(value.length, MAX_TEXT_CHARS, room.chars);
    room.chars -= kept;
    const cut = value.length - kept;
    return cut === 0 ? value : `${value.slice(0, kept)}\n[… ${cut} more characters cut …]`;
  }
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.toReversed().map((each) => bounded(each, room)).reverse();
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [name, bounded(field, room)]),
  );
}
