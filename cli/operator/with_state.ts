/**
 * How commands change what the authority remembers for operators: directly in its files, also while
 * a service runs. Never over the local socket: who can open that could else give himself a token.
 *
 * @module
 */

import type { OperatorState } from "../../lib/state/operator_state.ts";
import type { HomePaths } from "../../lib/config/paths.ts";
import type { Env } from "../../lib/config/references.ts";
import { homePaths } from "../home_paths.ts";
import type { Globals } from "../command.ts";
import { type ConfirmDeps, processConfirm } from "../confirm.ts";
import type { Output } from "../output.ts";

/** Whose state it is. */
export interface StateDeps {
  paths: HomePaths;
  env: Env;
  /** Default: the clock's. */
  now?(): number;
}

/** What such a command reaches outside of itself. */
export interface OperatorDeps extends StateDeps {
  now(): number;
  confirm(out: Output): ConfirmDeps;
}

/** What a command of this process reaches. */
export function operatorDeps(globals: Globals): OperatorDeps {
  return {
    paths: homePaths(globals),
    env: (name) => Deno.env.get(name),
    now: Date.now,
    confirm: processConfirm,
  };
}

/** Gives `use` the state, to look at. */
export async function readState<T>(
  deps: StateDeps,
  use: (state: OperatorState) => T | Promise<T>,
): Promise<T> {
  const [{ openOperatorState }, { SECRETS_KEY_VARIABLE }] = await Promise.all([
    import("../../lib/state/operator_state.ts"),
    import("../../lib/state/secret_key.ts"),
  ]);
  const { operatorDir: dir, keysDir } = deps.paths;
  const secretsKey = deps.env(SECRETS_KEY_VARIABLE);
  const state = await openOperatorState({ dir, keysDir, secretsKey, now: deps.now });
  try {
    return await use(state);
  } finally {
    await state.close();
  }
}

/**
 * Gives `use` the state, to change it, and then the change's record to the audit. While a service runs
 * that has the audit, the service does so, and so does the next one where the audit cannot be used now.
 */
export async function changeState<T>(
  deps: StateDeps,
  out: Output,
  use: (state: OperatorState) => Promise<T>,
): Promise<T> {
  return await readState(deps, async (state) => {
    try {
      return await use(state);
    } finally {
      await record(deps, state).catch((error) => {
        const reason = error instanceof Error ? error.message : String(error);
        out.note(`Not in the audit log yet (${reason}); the service records it when it starts`);
      });
    }
  });
}

async function record({ paths, env }: StateDeps, state: OperatorState): Promise<void> {
  const [{ acquireHome }, { openAudit }, { auditSettings }] = await Promise.all([
    import("../../lib/authority/home_lock.ts"),
    import("../../lib/audit/log.ts"),
    import("./audit_settings.ts"),
  ]);
  // Before the home is taken, for a moment only: a service may want to start.
  const settings = await auditSettings({ paths, env }).catch((error: unknown) => ({ error }));
  const lock = await acquireHome(paths);
  if ("heldBy" in lock) return;
  try {
    if ("error" in settings) throw settings.error;
    const { auditDir: dir, keysDir } = paths;
    const audit = await openAudit({ ...settings, dir, keysDir, log: SILENT });
    try {
      await state.record(audit);
    } finally {
      await audit.close();
    }
  } finally {
    lock.release();
  }
}

/** What is odd about the audit is said by the service, and by `service audit verify`. */
const SILENT = { debug() {}, info() {}, warning() {}, error() {} };
