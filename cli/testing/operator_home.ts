/**
 * Runs commands on the operators' state of a home in a temporary folder, for tests.
 *
 * @module
 */

import { AUDIT_FILE } from "../../lib/audit/log.ts";
import type { AuditRecord } from "../../lib/audit/record.ts";
import { type TempHome, tempHome } from "../../lib/config/testing/temp_home.ts";
import type { Command, ExitCode, Invocation } from "../command.ts";
import type { OperatorDeps } from "../operator/with_state.ts";
import { parseCommand, parseHead } from "../parse.ts";
import { memoryOutput } from "./memory_output.ts";

/** What a command did. */
export interface Ran {
  exit: ExitCode;
  stdout: string;
  stderr: string;
}

/** How a line is run. */
export interface RunOptions {
  /** Whether the outputs and standard input are a terminal; pipes by default. */
  terminal?: boolean;
  /** What is typed at the question. */
  answer?: string;
}

/** A home, and commands that run in it. Disposing removes it. */
export interface OperatorHome extends AsyncDisposable {
  home: TempHome;
  /** Runs a line; rejects with what the command throws. */
  run(line: string[], options?: RunOptions): Promise<Ran>;
  /** Records of the audit about operators' state. */
  records(): Promise<AuditRecord[]>;
  /** Milliseconds since 1970. */
  clock: { now: number };
}

/** Makes a home for one command. */
export async function operatorHome(
  name: string,
  command: Command,
  runCommand: (invocation: Invocation, deps: OperatorDeps) => Promise<ExitCode>,
): Promise<OperatorHome> {
  const home = await tempHome();
  const clock = { now: Date.UTC(2030, 0, 1) };
  return {
    home,
    clock,
    async run(line, { terminal = false, answer } = {}) {
      const { out, stdout, stderr } = memoryOutput({ stdout: terminal, stderr: terminal });
      const parsed = parseCommand(name, command, parseHead([name, ...line]));
      const exit = await runCommand({ ...parsed, out }, {
        paths: home.paths,
        env: home.env,
        now: () => clock.now,
        confirm: (out) => ({ out, isTerminal: terminal, readLine: () => Promise.resolve(answer) }),
      });
      return { exit, stdout: stdout.text, stderr: stderr.text };
    },
    async records() {
      const text = await Deno.readTextFile(`${home.paths.auditDir}/${AUDIT_FILE}`).catch(() => "");
      return text.split("\n").filter((line) => line !== "").map((line) => JSON.parse(line))
        .filter(({ kind }) => !kind.startsWith("log."));
    },
    [Symbol.asyncDispose]: () => home[Symbol.asyncDispose](),
  };
}
