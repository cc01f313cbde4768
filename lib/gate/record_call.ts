/**
 * A call on record: its own action, each use of a secret and each file that it sends, before it runs and
 * after it.
 *
 * @module
 */

import type { ActionContext, ActionResult } from "../contract/actions.ts";
import type { AuditLog } from "../audit/log.ts";
import type { AllowedCall } from "./judge_call.ts";
import { type OpenRecord, recordAction } from "./record_action.ts";

/** Records a call before it runs. Rejects when any of it cannot be recorded; then it must not run. */
export async function recordCall(
  deps: { audit: AuditLog; now?: () => number },
  { main, secrets, files }: AllowedCall,
  context: ActionContext,
): Promise<OpenRecord> {
  const open: OpenRecord[] = [];
  const cutAll = async (error: unknown) => {
    for (const record of open) await record.cut(error);
  };
  try {
    for (const allowed of [main, ...secrets, ...files]) {
      open.push(await recordAction(deps, { ...allowed, context }));
    }
  } catch (error) {
    await cutAll(error);
    throw error;
  }
  const [record, ...uses] = open as [OpenRecord, ...OpenRecord[]];
  return {
    async end(result, facts) {
      let ended = await record.end(result, facts);
      for (const use of uses) {
        // The output is the call's own; what stands here is only that the use is over.
        const said = await use.end("redirect" in ended ? ended : { ...ended, output: "" });
        if (isUnrecorded(said) && !isUnrecorded(ended)) ended = said;
      }
      return ended;
    },
    async cut(error) {
      await cutAll(error);
    },
  };
}

function isUnrecorded(result: ActionResult | { redirect: string }): boolean {
  return "error" in result && result.error.code === "audit_unavailable";
}
