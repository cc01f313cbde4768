/**
 * What the operations of the local protocol about automations do.
 *
 * @module
 */

import { z } from "zod";
import type { OperationHandlers } from "../../local/server.ts";
import type { Automations } from "../../automation/automations.ts";
import { checkParams } from "./check_params.ts";

const id = z.string().min(1).max(200);
const limit = z.int().min(1).max(200);

const pageParams = z.object({ after: z.string().max(200).default(""), limit });
const idParams = z.object({ id });
const createParams = z.object({ automation: z.unknown() });
const updateParams = z.object({ id, change: z.unknown() });
const enableParams = z.object({ id, enabled: z.boolean() });
const runParams = z.object({ id, requestId: z.string().optional() });
const historyParams = z.object({ id, before: z.int().min(0).optional(), limit });

/** The handlers; each checks its parameters and names what is wrong with them. */
export function createAutomationOperations(
  { automations }: { automations: Automations },
): Partial<OperationHandlers> {
  return {
    async *automations(params) {
      yield* await automations.list(checkParams(pageParams, params));
    },
    async automation(params) {
      return await automations.get(checkParams(idParams, params).id);
    },
    async automation_create(params) {
      return await automations.create(checkParams(createParams, params).automation);
    },
    async automation_update(params) {
      const { id, change } = checkParams(updateParams, params);
      return await automations.update(id, change);
    },
    async automation_enable(params) {
      const { id, enabled } = checkParams(enableParams, params);
      return await automations.setEnabled(id, enabled);
    },
    async automation_delete(params) {
      const { id } = checkParams(idParams, params);
      await automations.remove(id);
      return { id, deleted: true };
    },
    async automation_run(params) {
      const { id, requestId } = checkParams(runParams, params);
      return await automations.run(id, { requestId });
    },
    async *automation_history(params) {
      const { id, before, limit } = checkParams(historyParams, params);
      yield* await automations.history(id, { before, limit });
    },
  };
}
