/**
 * Whether and how commands run here: in the sandbox once that has shown that it holds, without one only
 * where the operator said so, else not at all.
 *
 * @module
 */

import type { Log } from "../base/log.ts";
import { workspaceProblem } from "./command_sandbox.ts";
import type { Confinement } from "./sandbox.ts";
import { noSandbox, type SandboxReport, type SelfTestDeps, testSandbox } from "./test_sandbox.ts";

/** How commands run here. */
export type CommandMode =
  | { mode: "sandboxed" }
  /** No sandbox, and `executor.allowUnconfined` is set. */
  | { mode: "unconfined"; reason: string }
  | { mode: "off"; reason: string };

/** What it is found out with. */
export interface CommandModeDeps {
  /** Real path. */
  workspace: string;
  /** Folder of our own, where the sandbox is tried out. */
  scratchDir: string;
  allowUnconfined: boolean;
  find(): Promise<Confinement>;
  /** Whether something holds commands to their number of processes. */
  holdsProcesses(): Promise<boolean>;
  /** Runs a trial in the sandbox of its folder. */
  tryOut: SelfTestDeps["run"];
  /** Instead of `testSandbox()`; for tests. */
  testSandbox?: typeof testSandbox;
  /** Told once of what the sandbox has shown, before anything runs in it; no command runs if it rejects. */
  onTested(report: SandboxReport): Promise<unknown>;
  log: Log;
}

/** Finds it out at the first call, once; what failed is tried again. */
export class CommandModes {
  readonly #deps: CommandModeDeps;
  #reported: Promise<SandboxReport> | undefined;

  constructor(deps: CommandModeDeps) {
    this.#deps = deps;
  }

  /** What the sandbox has shown. */
  report(): Promise<SandboxReport> {
    return this.#reported ??= this.#test().catch((error) => {
      this.#reported = undefined;
      throw error;
    });
  }

  async mode(): Promise<CommandMode> {
    const { ok, reason } = await this.report();
    if (ok) return { mode: "sandboxed" };
    return { mode: this.#deps.allowUnconfined ? "unconfined" : "off", reason };
  }

  /** How they would run, without starting anything: what was tried out, else what is installed. */
  async modeAtRest(): Promise<CommandMode> {
    if (this.#reported !== undefined) return await this.mode();
    const { bwrap, reason } = await this.#deps.find();
    if (bwrap !== undefined) return { mode: "sandboxed" };
    return { mode: this.#deps.allowUnconfined ? "unconfined" : "off", reason };
  }

  async #test(): Promise<SandboxReport> {
    const { workspace, scratchDir, allowUnconfined, log } = this.#deps;
    const { bwrap, reason } = await this.#deps.find();
    const problem = bwrap === undefined ? reason : workspaceProblem(workspace);
    await Deno.mkdir(scratchDir, { recursive: true, mode: 0o700 });
    const tested = problem !== undefined
      ? noSandbox(problem)
      : await (this.#deps.testSandbox ?? testSandbox)({ scratchDir, run: this.#deps.tryOut });
    if (!tested.ok) {
      const how = allowUnconfined
        ? "Commands run WITHOUT a sandbox, with everything that this user may do " +
          "(executor.allowUnconfined)"
        : "Commands are off: their sandbox is not there or does not hold";
      log.warning(how, { reason: tested.reason });
    }
    if (tested.ok && !await this.#deps.holdsProcesses()) {
      log.warning(
        "Nothing bounds how many processes a command starts: root needs a control group for that, " +
          "and none can be made here; run the service as another user",
      );
    }
    await this.#deps.onTested(tested);
    return tested;
  }
}
