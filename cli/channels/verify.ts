/**
 * `service channels verify`: verifies the session of an encrypted channel with a client, by emoji that a
 * person compares at this terminal.
 *
 * @module
 */

import { visibleLine } from "../../lib/base/visible_text.ts";
import { CHANNEL_STATUS } from "../../lib/operations/channel_status.ts";
import type { OperationResult } from "../../lib/operations/operations.ts";
import { EXIT, type ExitCode, type Invocation } from "../command.ts";
import { confirm } from "../confirm.ts";
import { operateWith } from "../operator/operate_with.ts";
import { typedInput } from "../operator/operation_subcommand.ts";
import type { Output } from "../output.ts";
import type { ChannelsDeps } from "./deps.ts";

type Verification = OperationResult<"channels.verify">;

/** What is typed. */
export const VERIFY_COMMAND = CHANNEL_STATUS["channels.verify"];

/** Milliseconds between two looks. */
const LOOK_MS = 1_000;

/** How long a client is waited for, milliseconds: as long as it waits itself. */
const WAIT_MS = 10 * 60_000;

/**
 * Shows the session, waits for a client that wants to verify it, and asks whether the emoji are the same.
 * With `--json`, `--action`, or without a terminal it says how it stands once.
 */
export async function verify(invocation: Invocation, deps: ChannelsDeps): Promise<ExitCode> {
  const { globals, out } = invocation;
  const typed = typedInput(VERIFY_COMMAND, invocation);
  return await deps.withRunning(globals, async (client) => {
    const ask = (action: "show" | "confirm" | "cancel") =>
      operateWith(client)({ op: "channels.verify", name: typed.name, action });
    let now = await ask(typed.action ?? "show");
    if (globals.json) {
      out.json(now);
      return exitOf(now);
    }
    showSession(now, out);
    const dialog = deps.confirm(out);
    if (!dialog.isTerminal || typed.action !== undefined) return tell(now, out);
    if (now.state === "idle") {
      out.note(
        "Open the bot's profile in a client of somebody whom allowFrom lists, or the sessions of",
      );
      out.note("the bot's own account, and choose Verify. Waiting for that; Ctrl-C ends it");
    }
    const until = deps.elapsed() + WAIT_MS;
    while (now.state === "idle" || now.state === "waiting") {
      if (deps.elapsed() > until) return tell(now, out);
      await deps.sleep(LOOK_MS);
      now = await ask("show");
    }
    if (now.state === "compare") {
      out.note(`${visibleLine(now.with ?? "")} sees:`);
      for (const { symbol, name } of now.emoji ?? []) {
        // Without the mark that asks for the coloured form, which nobody sees.
        out.note(visibleLine(`  ${symbol.replaceAll("\uFE0F", "")}  ${name}`));
      }
      now = await ask(await confirm("Are they the same?", dialog) ? "confirm" : "cancel");
    }
    while (now.state === "waiting" && deps.elapsed() <= until) {
      await deps.sleep(LOOK_MS);
      now = await ask("show");
    }
    return tell(now, out);
  });
}

function showSession({ device_id: id, key, is_verified: isVerified }: Verification, out: Output) {
  out.note(
    `Session ${visibleLine(id)}, ${isVerified ? "verified" : "not verified"} by its account`,
  );
  out.note(`Key     ${visibleLine(key)}`);
}

function tell(verification: Verification, out: Output): ExitCode {
  const { state, with: other, message } = verification;
  if (state === "done") out.note(`Verified with ${visibleLine(other ?? "")}`);
  else if (state === "failed") out.note(`Not verified: ${visibleLine(message ?? "")}`);
  else if (state === "compare") out.note("Compare the emoji in a terminal, without --action");
  else out.note("No client has asked to verify it");
  return exitOf(verification);
}

function exitOf({ state }: Verification): ExitCode {
  return state === "failed" ? EXIT.failed : EXIT.done;
}
