/**
 * `service plugins enable` and `disable`: written into the configuration, which a running service takes
 * up by itself. A channel is tried before it is enabled: nothing is written unless it works. The HTTP API
 * is switched like a channel, and is none.
 *
 * @module
 */

import { planSection, type PlanSectionInputs } from "../../lib/operations/channels/plan_section.ts";
import { type PlannedSwitch, planSwitch } from "../../lib/operations/channels/plan_switch.ts";
import { untilWritten } from "../../lib/settings/write_settings.ts";
import { classifyChanges } from "../../lib/settings/changes.ts";
import { examine } from "../../lib/settings/examine.ts";
import { readConfig } from "../../lib/settings/load.ts";
import { requirePinnedCases } from "../../lib/settings/pinned_cases.ts";
import { readConfigText } from "../../lib/config/config_file.ts";
import { saveSettings } from "../config/save_settings.ts";
import { ServiceError, toErrorData } from "../../lib/base/errors.ts";
import { channelPackages } from "../../lib/packages/package_fetcher.ts";
import type { Section } from "../../lib/channel/management.ts";
import { formatProblem, type Problem } from "../../lib/config/problem.ts";
import { isWithin } from "../../lib/base/key_path.ts";
import type { ChannelRegistry } from "../../lib/registry/channel_registry.ts";
import type { Output } from "../output.ts";
import type { CheckAsked } from "./check_in_worker.ts";
import { API, type PluginsDeps } from "./deps.ts";
import { findingWords } from "./finding_words.ts";
import { setCommand } from "./info.ts";

/** What is to be switched. */
export interface SwitchAsked {
  name: string;
  instanceId?: string;
  enabled: boolean;
  /** Enable it even if it doesn't work, or can't be tried. */
  force: boolean;
  json: boolean;
}

/**
 * Switches it. Throws `not_found`, naming the channels that there are, and `not_enabled`, saying why, for
 * one that doesn't work.
 */
export async function switchChannel(
  out: Output,
  deps: PluginsDeps,
  asked: SwitchAsked,
): Promise<void> {
  const { paths } = deps;
  const { name, instanceId, enabled, force, json } = asked;
  if (name === API && instanceId !== undefined) {
    throw new ServiceError("usage", "The HTTP API has no instances", { param: "instance" });
  }
  const registry = await deps.channels();
  const { made, restart, faults } = await write(registry, deps, asked, out);
  const written = made.planned.keys.length > 0;
  const what = instanceId === undefined ? name : `${instanceId} of ${name}`;
  if (faults.length > 0 && !force) {
    const isOn = written ? "Nothing was written" : "It is enabled already, and nothing was written";
    const which = instanceId === undefined ? name : `${name} --instance ${instanceId}`;
    throw new ServiceError(
      "not_enabled",
      `Cannot enable ${what}:\n${faults.map((fault) => `  ${fault}`).join("\n")}\n` +
        `${isOn}. To enable it anyway: service plugins enable ${which} --force`,
    );
  }
  const warnings = [...made.findings.map(({ message }) => message), ...faults];
  if (json) {
    out.json({
      channel: name,
      ...instanceId !== undefined && { instance: instanceId },
      enabled,
      written,
      file: paths.configFile,
      restart,
      warnings,
    });
    return;
  }
  const state = enabled ? "enabled" : "disabled";
  if (!written) {
    out.note(`${what} was ${state} already; nothing was written`);
    if (enabled) {
      const which = instanceId === undefined ? name : `${name} --instance ${instanceId}`;
      if (name !== API) {
        out.note(`To have it start anew: service plugins disable ${which}, then enable it again`);
      }
    }
  } else {
    out.note(`${what} is ${state} in ${paths.configFile}`);
    out.note(
      restart
        ? "Restart a running service to apply it: service restart"
        : "A running service applies it now. See its state with: service channels",
    );
  }
  for (const warning of warnings) out.note(`warning: ${warning}`);
}

/** Tries it and writes it, anew if somebody else was faster. `faults`: why it may not work. */
async function write(
  registry: ChannelRegistry,
  deps: PluginsDeps,
  { name, instanceId, enabled, force }: SwitchAsked,
  out: Output,
): Promise<{ made: PlannedSwitch; restart: boolean; faults: string[] }> {
  const { paths, env } = deps;
  return await untilWritten(async () => {
    const { text } = await readConfig({ paths });
    const inputs = {
      text,
      paths,
      env,
      // A variable that is not set in this shell may be set where the service runs.
      tolerates: ({ kind }: Problem) => kind === "reference",
    };
    const made = name === API ? planApi(enabled, inputs) : explained(
      registry,
      name,
      () => planSwitch({ ...inputs, registry, name, instanceId, enabled }),
    );
    const faults = enabled ? await tried({ registry, made, instanceId }, deps) : [];
    const { keys, value, next } = made.planned;
    const restart = takesRestart(examine({ text, paths, env }).config, next);
    if (keys.length === 0) return { made, restart: false, faults };
    if (faults.length > 0 && !force) return { made, restart, faults };
    await requirePinnedCases(`Cannot switch ${name}`, { config: next, paths });
    try {
      await saveSettings({ keys, before: text, value }, { paths, env }, out);
    } catch (error) {
      if (await readConfigText(paths.configFile) !== text) return undefined;
      throw error;
    }
    return { made, restart, faults };
  });
}

/** Why a channel would not work as it is planned, or why that is unknown. */
async function tried(asked: CheckAsked, deps: PluginsDeps): Promise<string[]> {
  const { channel, planned } = asked.made;
  if (channel === undefined) return [];
  const { name, dependencies } = channel.descriptor;
  const { paths, env } = deps;
  const unset = examine({ text: planned.text, paths, env }).problems
    .filter(({ kind, path }) => kind === "reference" && isWithin(path, ["channels", name]));
  if (unset.length > 0) {
    return unset.map((each) => `It can't be tried here: ${formatProblem(each)}`);
  }
  try {
    await deps.packages.ensure(channelPackages(name, dependencies));
  } catch (error) {
    return [toErrorData(error).message];
  }
  return (await deps.check(asked)).map(findingWords);
}

function planApi(
  enabled: boolean,
  inputs: Omit<PlanSectionInputs, "path" | "edit">,
): PlannedSwitch {
  const edit = (section: Section) => ({ ...section, enabled });
  return { planned: planSection({ ...inputs, path: [API], edit }), findings: [] };
}

function takesRestart(
  old: Parameters<typeof classifyChanges>[0] | undefined,
  next: Parameters<typeof classifyChanges>[1],
): boolean {
  return old !== undefined && classifyChanges(old, next).some(({ takes }) => takes === "restart");
}

/** What is missing is told with how to set it. */
function explained<T>(registry: ChannelRegistry, name: string, plan: () => T): T {
  try {
    return plan();
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== "invalid_request") throw error;
    const { param } = error.details;
    const fields = registry.usable.get(name)?.descriptor.setup.fields ?? {};
    if (param === undefined || !Object.hasOwn(fields, param)) throw error;
    throw new ServiceError(
      "config_invalid",
      `${error.message}\n  ${setCommand(name, param, fields[param])}`,
      error.details,
    );
  }
}
