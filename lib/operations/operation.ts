/**
 * What an operation is. Everything that operators can ask for is defined once, in this folder: its name,
 * the scope that it takes, what goes in and comes out, and what it does. The routes of the ports, their
 * OpenAPI document and what crosses to the authority are read from that.
 *
 * Fields have the names of the wire, and times are in seconds since 1970.
 *
 * @module
 */

import type { z } from "zod";
import type { ErrorCode } from "../base/errors.ts";
import type { ActionContext } from "../contract/actions.ts";
import type { Automations } from "../automation/automations.ts";
import type { Credential, Scope } from "../contract/credentials.ts";
import type { SessionFilter } from "../contract/journal.ts";
import type { Commission } from "./commission.ts";
import type { ChannelParts } from "./channel_status.ts";
import type { McpParts } from "./mcp.ts";
import type { ModelParts } from "./models.ts";
import type { HomeParts, Parts } from "./parts.ts";
import type { MissedParts } from "./missed.ts";
import type { OutboxParts } from "./outbox.ts";
import type { ReloadParts } from "./reload.ts";
import type { RetentionParts } from "./retention.ts";
import type { StatusParts } from "./service_status.ts";
import type { SessionParts } from "./sessions.ts";
import type { UsageParts } from "./usage.ts";

/** Where an operation is found over HTTP. What the path doesn't name is in the query, or the body. */
export interface OperationRoute {
  method: "GET" | "POST" | "PUT" | "DELETE";
  /** `:name` is the field of that name. */
  path: string;
  /** Beside those that every route has. */
  errors?: readonly ErrorCode[];
  /** Default: 64 KiB. */
  maxBodyBytes?: number;
  /** Parameters of the query are fields too, beside those of the body. */
  takesQuery?: boolean;
  /** Instead of the operation's, where a route takes less than others, or more. */
  input?: z.ZodObject;
}

/** Who asks, checked. */
export interface Asking {
  /** For the audit log, such as `token:tok_…`. */
  by: string;
  /** A chat shows only the first digits of a digest. */
  isChat: boolean;
  /** Why this one may not answer an action of that turn; undefined: may. */
  objection(context: ActionContext): string | undefined;
}

/** What every operation says of itself. */
export interface OperationHead<
  Input extends z.ZodObject = z.ZodObject,
  Output extends z.ZodType = z.ZodType,
> {
  /** In a few words, for the docs. */
  summary: string;
  /** `gateway`: it only ends or takes away what the gateway began, so its word is enough. */
  scope: Scope | "gateway";
  input: Input;
  output: Output;
  /** What was sent may be a secret, so errors repeat nothing of it. */
  confidential?: boolean;
  /** `run` tells one item after another, each as `output` has it: JSON lines over HTTP. */
  streams?: true;
  route?: OperationRoute;
  /** The command that does the same, such as `secrets set`, or `channels missed --clear`. */
  command?: string;
  /** Fields that the command takes as arguments, in this order. Default: those in the path of the route. */
  args?: readonly string[];
  /** The tool of our own MCP server that does the same. */
  mcpTool?: string;
  /** The command of a chat that does the same, without its slash: it takes the fields in their order. */
  chatCommand?: string;
}

/** An operation of the authority. */
export interface Operation<
  Input extends z.ZodObject = z.ZodObject,
  Output extends z.ZodType = z.ZodType,
> extends OperationHead<Input, Output> {
  run(
    input: z.output<Input>,
    parts: Parts,
    asking: Asking,
  ): z.input<Output> | Promise<z.input<Output>>;
  /** The answer with what only the gateway knows of it. */
  complete?(answer: z.output<Output>, gateway: GatewayParts): z.output<Output>;
}

/** An operation that only commands do, for who may read and write the home's files: no port has it. */
export interface HomeOperation<
  Input extends z.ZodObject = z.ZodObject,
  Output extends z.ZodType = z.ZodType,
> extends Omit<OperationHead<Input, Output>, "scope" | "route"> {
  run(
    input: z.output<Input>,
    parts: HomeParts,
  ): z.input<Output> | Promise<z.input<Output>>;
}

/** What operations of the gateway work on. */
export type GatewayParts =
  & SessionParts
  & OutboxParts
  & MissedParts
  & ChannelParts
  & ModelParts
  & McpParts
  & StatusParts
  & UsageParts
  & ReloadParts
  & RetentionParts
  & {
    automations: Omit<Automations, "start" | "pause" | "stop">;
    commission: Commission;
  };

/** Who asks the gateway, for what the authority checks. */
export interface GatewayAsking {
  credential: Credential;
  /** The sessions that there are for the caller: `{}` is all of them. */
  sees: SessionFilter;
  /** Aborts when the caller leaves. */
  signal: AbortSignal;
}

/** An operation of the gateway. */
export interface GatewayOperation<
  Input extends z.ZodObject = z.ZodObject,
  Output extends z.ZodType = z.ZodType,
> extends OperationHead<Input, Output> {
  scope: Scope;
  /** What to switch on while the part is off. */
  off?(parts: GatewayParts): string | undefined;
  run(
    input: z.output<Input>,
    parts: GatewayParts,
    asking: GatewayAsking,
  ): z.input<Output> | Promise<z.input<Output>> | AsyncGenerator<z.input<Output>>;
}

/** Types one of the authority. */
export function operation<Input extends z.ZodObject, Output extends z.ZodType>(
  it: Operation<Input, Output>,
): Operation<Input, Output> {
  return it;
}

/** Types one on files of the home. */
export function homeOperation<Input extends z.ZodObject, Output extends z.ZodType>(
  it: HomeOperation<Input, Output>,
): HomeOperation<Input, Output> {
  return it;
}

/** Types one of the gateway. */
export function gatewayOperation<Input extends z.ZodObject, Output extends z.ZodType>(
  it: GatewayOperation<Input, Output>,
): GatewayOperation<Input, Output> {
  return it;
}

/** Types one of the gateway that streams. */
export function gatewayStream<Input extends z.ZodObject, Output extends z.ZodType>(
  it: GatewayOperation<Input, Output>,
): GatewayOperation<Input, Output> & { streams: true } {
  return { ...it, streams: true };
}
