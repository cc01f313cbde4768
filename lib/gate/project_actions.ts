/**
 * A gate for each folder that turns work in: the workspace's, and one for each project, made when it is
 * first needed. To a project's gate its folder is the workspace, in everything.
 *
 * @module
 */

import type { ActionPort, ActionRequest, ActionResult } from "../contract/actions.ts";
import { toErrorData } from "../base/errors.ts";
import { createExecutor, type Executor } from "../executor/executor.ts";
import { type Actions, type ActionsOptions, createActions, type FolderActions } from "./gate.ts";

/** Throws a ServiceError unless a turn may work in that folder now. */
export type CheckFolder = (folder: string) => Promise<void>;

/** The gates of a home. */
export class ProjectActions implements Actions {
  readonly #options: ActionsOptions;
  readonly #checkFolder: CheckFolder;
  readonly #workspace: FolderActions;
  readonly #projects = new Map<string, { gate: FolderActions; executor: Executor }>();

  constructor(options: ActionsOptions, checkFolder: CheckFolder) {
    this.#options = options;
    this.#checkFolder = checkFolder;
    this.#workspace = createActions(options);
  }

  async act(
    request: ActionRequest,
    options: Parameters<ActionPort["act"]>[1],
  ): Promise<ActionResult> {
    const { folder } = request.context;
    if (folder === undefined) return await this.#workspace.act(request, options);
    try {
      await this.#checkFolder(folder);
    } catch (error) {
      const data = toErrorData(error);
      await this.#recordRefusal(request);
      return { status: "refused", output: data.message, error: data };
    }
    return await this.#gateOf(folder).act(request, options);
  }

  turnEnded(turnId: string): void {
    this.#workspace.turnEnded(turnId);
    for (const { executor } of this.#projects.values()) executor.turnEnded(turnId);
  }

  checks: Actions["checks"] = (options) => this.#workspace.checks(options);

  counts(): { running: number; waiting: number } {
    const total = { ...this.#workspace.counts() };
    for (const { executor } of this.#projects.values()) {
      const { running, waiting } = executor.counts();
      total.running += running;
      total.waiting += waiting;
    }
    return total;
  }

  openSandboxed: Actions["openSandboxed"] = (...started) =>
    this.#workspace.openSandboxed(...started);

  async shutdown(): Promise<void> {
    const executors = [...this.#projects.values()].map(({ executor }) => executor.shutdown());
    await Promise.all([this.#workspace.shutdown(), ...executors]);
  }

  /** The refusal stands also when it cannot be recorded: nothing ran either way. */
  async #recordRefusal({ tool, context }: ActionRequest): Promise<void> {
    const { audit, log } = this.#options;
    const { folder = "", sessionKey, turnId, callId, channel, actor, attended } = context;
    try {
      await audit.append("action.refused", {
        tool,
        // Nobody allowed it, so it may be anything.
        folder: audit.digest(folder),
        decision: { effect: "deny", rule: "folder" },
        ...{ session: sessionKey, turn: turnId, call: callId, channel, actor, attended },
      });
    } catch (error) {
      log.error("A refusal cannot be recorded", { reason: toErrorData(error).message });
    }
  }

  #gateOf(folder: string): FolderActions {
    let project = this.#projects.get(folder);
    if (project === undefined) {
      const { config, paths, sandboxes, sandbox, log } = this.#options;
      const executor = createExecutor({
        cacheDir: `${paths.runDir}/child-cache`,
        workspace: folder,
        ...{ sandboxes, sandbox, log },
      });
      const gate = createActions({
        ...this.#options,
        config: { ...config, agent: { workspace: folder } },
        workspace: folder,
        ownWorkspace: this.#options.workspace,
        executor,
        // Of all folders together: their limits, and what has to be put aside after each.
        commands: this.#workspace.commands,
      });
      project = { gate, executor };
      this.#projects.set(folder, project);
    }
    return project.gate;
  }
}
