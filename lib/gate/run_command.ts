/**
 * Runs an allowed command and tells the turn how it went.
 *
 * A command that ran is a result whatever its exit code says: what that means is for the model to judge.
 * One that was cut off failed.
 *
 * @module
 */

import type { ExecArgs } from "../tools/exec.ts";
import type { ActionResult, CommandTarget } from "../contract/actions.ts";
import { canonicalJson } from "../base/canonical_json.ts";
import { cutOutput } from "../rpc/cut_output.ts";
import type { CommandOutcome, CommandRun, Commands } from "../executor/commands.ts";
import { resolveCommand } from "../policy/resolve/resolve_command.ts";
import type { Workspace } from "../policy/resolve/resolve.ts";
import { failed } from "./results.ts";

/** How running ended: for the turn, and for the record. */
export interface CommandRan {
  result: ActionResult;
  facts: Record<string, unknown>;
}

/** What is to be run, and with what. */
export interface RunCommandOptions {
  args: unknown;
  target: CommandTarget;
  workspace: Workspace;
  commands: Commands;
  maxOutputBytes: number;
  /** Values of secrets by the names of their variables. */
  env?: Readonly<Record<string, string>>;
  /** Opens the way to its hosts. */
  openNetwork?: CommandRun["openNetwork"];
  /** Lines that stand before the last one, made when it has ended. */
  notes?: (output: string) => string[];
  signal: AbortSignal;
  onProgress: (text: string) => void;
}

/** Runs it. Rejects only with the signal's reason after an abort, once its tree is gone. */
export async function runCommand(
  { args, target, workspace, commands, maxOutputBytes, ...run }: RunCommandOptions,
): Promise<CommandRan> {
  const { timeout_s } = args as ExecArgs;
  // What was decided may lead elsewhere by now: a link is made in a moment.
  const now = await resolveCommand(
    { command: target.argv, cwd: target.cwd, hosts: target.hosts },
    workspace,
  );
  run.signal.throwIfAborted();
  if (canonicalJson(now) !== canonicalJson(target)) {
    const reason = "what it would start is not what was decided on any more";
    return told({ type: "refused", reason }, maxOutputBytes);
  }
  const { env, openNetwork, signal, onProgress } = run;
  const timeoutMs = timeout_s * 1_000;
  const outcome = await commands.run(target, {
    workspace: workspace.real,
    timeoutMs,
    signal,
    onProgress,
    env,
    openNetwork,
  });
  return told(outcome, maxOutputBytes, run.notes);
}

function told(
  outcome: CommandOutcome,
  maxOutputBytes: number,
  notes: (output: string) => string[] = () => [],
): CommandRan {
  const left = outcome.type === "refused" ? [] : outcome.notes ?? [];
  const withEnd = (output: string, end: string) =>
    withLines(output, [...notes(output), ...left, end], maxOutputBytes);
  if (outcome.type === "exited" && outcome.overrun !== undefined) {
    return {
      result: failed("tool_failed", withEnd(outcome.output, outcome.overrun)),
      facts: { exitCode: outcome.code, endedBy: "overrun" },
    };
  }
  switch (outcome.type) {
    case "exited": {
      const { code, signal } = outcome;
      const end = signal === null ? `exit code ${code}` : `exit code ${code}, ended by ${signal}`;
      return {
        result: { status: "ok", output: withEnd(outcome.output, end) },
        facts: { exitCode: code, ...(signal === null ? {} : { signal }) },
      };
    }
    case "timeout": {
      const end = `ended after ${outcome.timeoutMs / 1_000} s, the time that it had (timeout_s)`;
      return {
        result: failed("tool_failed", withEnd(outcome.output, end)),
        facts: { endedBy: "timeout" },
      };
    }
    case "flooded": {
      const end = `ended after it had printed ${outcome.bytes} bytes`;
      return {
        result: failed("tool_failed", withEnd(outcome.output, end)),
        facts: { endedBy: "output" },
      };
    }
    case "fault":
      return {
        result: failed("executor_fault", `The command did not finish: ${outcome.message}`),
        facts: {},
      };
    case "refused": {
      const message = `Refused: exec (rule sandbox: ${outcome.reason})`;
      return {
        result: {
          status: "refused",
          output: `${message}. The command did not run.`,
          error: { code: "refused", message },
        },
        facts: {},
      };
    }
  }
}

function withLines(output: string, lines: readonly string[], maxOutputBytes: number): string {
  const end = lines.map((line) => `[${line}]`).join("\n");
  const kept = cutOutput(output, maxOutputBytes - end.length - 1);
  return `${kept}${kept === "" || kept.endsWith("\n") ? "" : "\n"}${end}`;
}
