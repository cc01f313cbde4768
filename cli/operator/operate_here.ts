/**
 * Operations of the table, run by a command on the home's own files, for who may read and write them: the
 * same input, output, rules and audit records as over a port, with or without a running service.
 *
 * @module
 */

import type {
  HomeOperationName,
  OperationName,
  OperationRequest,
  OperationResult,
} from "../../lib/operations/operations.ts";
import type { Stranger } from "../../lib/state/pairing_store.ts";
import type { OperatorState } from "../../lib/state/operator_state.ts";
import type { Output } from "../output.ts";
import type { AskDeps, Subcommand } from "./ask_subcommand.ts";
import type { Ask } from "./operate_with.ts";
import { changeState, type OperatorDeps, readState, type StateDeps } from "./with_state.ts";

/** Operations whose parts are files alone. */
export type FileOperation =
  | Extract<OperationName, `secrets.${string}` | `latches.${string}` | `pairings.${string}`>
  | HomeOperationName;

/** A subcommand of somebody who owns the home. */
export type HomeSubcommand<Deps = unknown> = Subcommand<Deps & OperatorDeps & AskDeps>;

/** For subcommands that ask for such operations. */
export function asksHere<Deps extends OperatorDeps>(deps: Deps): Deps & AskDeps {
  return {
    ...deps,
    withAsk: ({ out }, use) => use(((request: never) => operateHere(request, deps, out)) as Ask),
  };
}

/** Runs one. Rejects with its ServiceError. */
export async function operateHere<Name extends FileOperation>(
  { op, ...given }: OperationRequest<Name>,
  deps: StateDeps,
  out: Output,
): Promise<OperationResult<Name>> {
  const [{ HOME_OPERATIONS, OPERATIONS }, { SecretKeeper }, { checkSilently }] = await Promise.all([
    import("../../lib/operations/operations.ts"),
    import("../../lib/operations/secret_keeper.ts"),
    import("../../lib/listen/check_silently.ts"),
  ]);
  const { input, run } = { ...OPERATIONS, ...HOME_OPERATIONS }[op as FileOperation];
  const asking = { by: "cli", isChat: false, objection: () => undefined };
  const perform = async ({ secrets, ...state }: OperatorState) => {
    const parts = {
      ...state,
      secrets: new SecretKeeper({ secrets, ...deps }),
      allowSender: async (who: Stranger) => {
        const { allowSender } = await import("../channels/allow_sender.ts");
        await allowSender(who, deps, out);
      },
    };
    return await run(checkSilently<never>(input as never, given), parts, asking);
  };
  return await (op.endsWith(".list")
    ? readState(deps, perform)
    : changeState(deps, out, perform)) as OperationResult<Name>;
}
