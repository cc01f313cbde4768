/**
 * The table of operations that the authority answers.
 *
 * @module
 */

import type { z } from "zod";
import type { Credential } from "../contract/credentials.ts";
import { APPROVALS, BLOCKS } from "./approvals.ts";
import { AUDIT } from "./audit.ts";
import { AUTOMATIONS } from "./automations.ts";
import { CHANNELS } from "./channels.ts";
import type { Operation } from "./operation.ts";
import { PERMISSIONS } from "./permissions.ts";
import { SECRETS } from "./secrets.ts";
import { SETTINGS } from "./settings.ts";
import type { TOKENS } from "./tokens.ts";

/** All of them by name. */
export const OPERATIONS = {
  ...APPROVALS,
  ...BLOCKS,
  ...SETTINGS,
  ...CHANNELS,
  ...SECRETS,
  ...PERMISSIONS,
  ...AUDIT,
  ...AUTOMATIONS,
};

type Table = typeof OPERATIONS & typeof TOKENS;

/** The name of one. */
export type OperationName = keyof Table;

/** What is asked: `op` and the fields of its input. */
export type OperationRequest<Name extends OperationName = OperationName> = {
  [Op in Name]: { op: Op } & Fields<z.input<Table[Op]["input"]>>;
}[Name];

/** An input without fields forbids all others, the name too. */
type Fields<Input> = Input extends Record<string, never> ? unknown : Input;

/** What comes of it. */
export type OperationResult<Name extends OperationName = OperationName> = z.output<
  Table[Name]["output"]
>;

/** Asks the authority; rejects with its ServiceError. */
export type Operate = <Name extends OperationName>(
  request: OperationRequest<Name>,
  credential: Credential,
) => Promise<OperationResult<Name>>;

/** The operation of that name; undefined where there is none. */
export function findOperation(name: string): Operation | undefined {
  return Object.hasOwn(OPERATIONS, name)
    ? OPERATIONS[name as keyof typeof OPERATIONS] as unknown as Operation
    : undefined;
}
