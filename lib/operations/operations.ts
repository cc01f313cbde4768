/**
 * The table of operations: those that the authority answers, those of the gateway itself, and those of
 * commands alone.
 *
 * @module
 */

import type { z } from "zod";
import { ServiceError } from "../base/errors.ts";
import { check } from "../listen/request_error.ts";
import type { Credential } from "../contract/credentials.ts";
import { APPROVALS, BLOCKS } from "./approvals.ts";
import { AUDIT } from "./audit.ts";
import { AUTOMATIONS } from "./automations.ts";
import type { CREDENTIAL_OPERATIONS } from "./credential_operations.ts";
import { GRANTS } from "./grants.ts";
import { COMMISSIONS } from "./commissions.ts";
import { CHANNELS } from "./channels.ts";
import { CHANNEL_STATUS } from "./channel_status.ts";
import { LOGS } from "./logs.ts";
import type { GatewayAsking, GatewayOperation, GatewayParts, Operation } from "./operation.ts";
import { MCP } from "./mcp.ts";
import { MODEL_SETUP } from "./model_setup.ts";
import { MISSED } from "./missed.ts";
import { MODELS } from "./models.ts";
import { OUTBOX } from "./outbox.ts";
import { PAIRINGS } from "./pairings.ts";
import { PERMISSIONS } from "./permissions.ts";
import { RELOAD } from "./reload.ts";
import { RESTART } from "./restart.ts";
import { RETENTION } from "./retention.ts";
import { SECRETS } from "./secrets.ts";
import { SERVICE } from "./service_status.ts";
import { SESSIONS } from "./sessions.ts";
import { SETTINGS } from "./settings.ts";
import { TOKENS } from "./tokens.ts";
import { USAGE } from "./usage.ts";

/** All of them by name. */
export const OPERATIONS = {
  ...APPROVALS,
  ...BLOCKS,
  ...SETTINGS,
  ...CHANNELS,
  ...PAIRINGS,
  ...SECRETS,
  ...PERMISSIONS,
  ...AUDIT,
  ...LOGS,
  ...COMMISSIONS,
  ...MODEL_SETUP,
  ...RESTART,
};

/** Those that the gateway answers. */
export const GATEWAY_OPERATIONS = {
  ...SESSIONS,
  ...AUTOMATIONS,
  ...OUTBOX,
  ...CHANNEL_STATUS,
  ...MISSED,
  ...MODELS,
  ...MCP,
  ...SERVICE,
  ...USAGE,
  ...RETENTION,
  ...RELOAD,
};

/** Those that only commands of the home's owner do. */
export const HOME_OPERATIONS = { ...TOKENS, ...GRANTS };

type Table = typeof OPERATIONS & typeof CREDENTIAL_OPERATIONS;

/** The name of one that the gateway answers. */
export type GatewayOperationName = keyof typeof GATEWAY_OPERATIONS;

/** The name of one on files of the home. */
export type HomeOperationName = keyof typeof HOME_OPERATIONS;

/** The name of one. */
export type OperationName = keyof Table;

type All = Table & typeof GATEWAY_OPERATIONS & typeof HOME_OPERATIONS;

/** The name of one that streams. */
export type StreamName = {
  [Name in keyof All]: All[Name] extends { streams: true } ? Name : never;
}[keyof All];

/** What is asked: `op` and the fields of its input. */
export type OperationRequest<Name extends keyof All = OperationName> = {
  [Op in Name]: { op: Op } & Fields<z.input<All[Op]["input"]>>;
}[Name];

/** An input without fields forbids all others, the name too. */
type Fields<Input> = Input extends Record<string, never> ? unknown : Input;

/** What comes of it, or each item of one that streams. */
export type OperationResult<Name extends keyof All = OperationName> = z.output<
  All[Name]["output"]
>;

/** Asks the authority; rejects with its ServiceError. */
export type Operate = <Name extends OperationName>(
  request: OperationRequest<Name>,
  credential: Credential,
) => Promise<OperationResult<Name>>;

/** Asks the authority, and adds what only the gateway knows. */
export function completing(operate: Operate, parts: GatewayParts): Operate {
  return async (request, credential) => {
    const answer = await operate(request, credential);
    return (findOperation(request.op)?.complete?.(answer, parts) ?? answer) as typeof answer;
  };
}

/**
 * Runs an operation of the gateway; resolves with the items of one that streams. Rejects with
 * `invalid_request` that names the field, and with `not_enabled` while its part is off.
 */
export async function runGatewayOperation(
  { op, ...given }: { readonly op: string },
  parts: GatewayParts,
  asking: GatewayAsking,
): Promise<unknown> {
  const operation = findGatewayOperation(op)!;
  const remedy = operation.off?.(parts);
  if (remedy !== undefined) {
    throw new ServiceError("not_enabled", `This part is off: ${remedy}`);
  }
  return await operation.run(check(operation.input, given), parts, asking);
}

/** The operation of the gateway of that name; undefined where there is none. */
export function findGatewayOperation(name: string): GatewayOperation | undefined {
  return Object.hasOwn(GATEWAY_OPERATIONS, name)
    ? GATEWAY_OPERATIONS[name as GatewayOperationName] as unknown as GatewayOperation
    : undefined;
}

/** The operation of that name; undefined where there is none. */
export function findOperation(name: string): Operation | undefined {
  return Object.hasOwn(OPERATIONS, name)
    ? OPERATIONS[name as keyof typeof OPERATIONS] as unknown as Operation
    : undefined;
}
