/**
 * Operations of the table, run by a command on the home's own files, for who may read and write them: the
 * same input, output, rules and audit records as over a port, with or without a running service.
 *
 * @module
 */

import type {
  OperationName,
  OperationRequest,
  OperationResult,
} from "../../lib/operations/operations.ts";
import type { Output } from "../output.ts";
import { changeState, type StateDeps } from "./with_state.ts";

/** Operations whose parts are files alone. */
export type FileOperation = Extract<OperationName, `secrets.${string}` | `latches.${string}`>;

/** Runs one. Rejects with its ServiceError. */
export async function operateHere<Name extends FileOperation>(
  { op, ...given }: OperationRequest<Name>,
  deps: StateDeps,
  out: Output,
): Promise<OperationResult<Name>> {
  const [{ OPERATIONS }, { SecretKeeper }, { checkSilently }] = await Promise.all([
    import("../../lib/operations/operations.ts"),
    import("../../lib/operations/secret_keeper.ts"),
    import("../../lib/listen/check_silently.ts"),
  ]);
  const { input, run } = OPERATIONS[op as FileOperation];
  return await changeState(deps, out, async ({ secrets, latches }) => {
    const parts = { secrets: new SecretKeeper({ secrets, ...deps }), latches };
    const asking = { by: "cli", isChat: false, objection: () => undefined };
    return await run(checkSilently<never>(input as never, given), parts, asking);
  }) as OperationResult<Name>;
}
