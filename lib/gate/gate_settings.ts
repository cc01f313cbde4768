/**
 * What the gate decides by beside rules, grants and latches: the configuration's part of the policy, made
 * of real paths and of what this machine can confine.
 *
 * @module
 */

import type { CommandMode } from "../executor/command_mode.ts";
import type { Commands } from "../executor/commands.ts";
import type { Executor } from "../executor/executor.ts";
import type { ActionsOptions } from "./gate.ts";
import type { PolicySettings } from "../policy/policy.ts";
import { policySettings } from "../policy/policy_settings.ts";

/** What they are made of. */
export interface GateSettingsDeps
  extends Pick<ActionsOptions, "config" | "paths" | "workspace" | "ownWorkspace"> {
  executor: Pick<Executor, "status" | "confinement">;
  modeAtRest: Commands["modeAtRest"];
}

export class GateSettings {
  /** How commands run; known once the first one is asked for. */
  commands: CommandMode = { mode: "off", reason: "their sandbox has not been tried yet" };
  readonly #deps: GateSettingsDeps;
  #made: Promise<PolicySettings> | undefined;

  constructor(deps: GateSettingsDeps) {
    this.#deps = deps;
  }

  /** Made once; what failed is tried again with the next action. */
  load(): Promise<PolicySettings> {
    return this.#made ??= this.#make().catch((error) => {
      this.#made = undefined;
      throw error;
    });
  }

  /** For an action that is about to run. */
  async inForce(): Promise<PolicySettings> {
    return { ...await this.load(), exec: this.commands };
  }

  /** What is known, or stands on the disk: nothing is tried out for it. */
  async atRest(): Promise<PolicySettings> {
    const known = await this.#made?.catch(() => undefined);
    const settings = known ?? await this.#make((await this.#deps.executor.status()).confined);
    return { ...settings, exec: await this.#deps.modeAtRest() };
  }

  async #make(isConfined?: boolean): Promise<PolicySettings> {
    const { paths, workspace, ownWorkspace, config: { gates, executor, mcp, tools } } = this.#deps;
    const confined = isConfined ?? (await this.#deps.executor.confinement()).confined;
    const settings = await policySettings({
      gates,
      commandHosts: executor.hosts ?? [],
      mcp: mcp ?? { servers: {} },
      tools,
      paths,
      workspace,
      confined,
      // Filled in anew for each decision.
      exec: this.commands,
    });
    return { ...settings, ownWorkspace };
  }
}
