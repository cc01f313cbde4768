/**
 * `service plugins enable` and `disable`: written into the configuration, which a running service takes
 * up by itself. The HTTP API is switched like a channel, and is none.
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
import type { Problem } from "../../lib/config/problem.ts";
import type { ChannelRegistry } from "../../lib/registry/channel_registry.ts";
import type { Output } from "../output.ts";
import { API, type PluginsDeps } from "./deps.ts";
import { findingWords } from "./finding_words.ts";
import { setCommand } from "./info.ts";

/** What is to be switched. */
export interface SwitchAsked {
  name: string;
  instanceId?: string;
  enabled: boolean;
  json: boolean;
}

/** Switches it. Throws `not_found`, naming the channels that there are. */
export async function switchChannel(
  out: Output,
  deps: PluginsDeps,
  asked: SwitchAsked,
): Promise<void> {
  const { paths } = deps;
  const { name, instanceId, enabled, json } = asked;
  if (name === API && instanceId !== undefined) {
    throw new ServiceError("usage", "The HTTP API has no instances", { param: "instance" });
  }
  const registry = await deps.channels();
  const { made, restart } = await write(registry, deps, asked, out);
  const written = made.planned.keys.length > 0;
  const unfetched = enabled ? await fetchPackages(made, deps) : [];
  // Without its packages it cannot be asked.
  const check = () =>
    enabled && unfetched.length === 0 ? deps.check({ registry, made, instanceId }) : [];
  const warnings = [...made.findings.map(({ message }) => message), ...unfetched];
  if (json) {
    const checked = await check();
    out.json({
      channel: name,
      ...instanceId !== undefined && { instance: instanceId },
      enabled,
      written,
      file: paths.configFile,
      restart,
      warnings: [...warnings, ...checked.map(findingWords)],
    });
    return;
  }
  const what = instanceId === undefined ? name : `${instanceId} of ${name}`;
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
        ? "A running service takes it over when it is started again"
        : "A running service takes it over now; see how it is with: service channels status",
    );
  }
  for (const warning of warnings) out.note(`warning: ${warning}`);
  // It may take some seconds, and what is written is told before.
  for (const finding of await check()) out.note(`${finding.level}: ${findingWords(finding)}`);
}

/** Writes it, anew if somebody else was faster. */
async function write(
  registry: ChannelRegistry,
  { paths, env }: PluginsDeps,
  { name, instanceId, enabled }: SwitchAsked,
  out: Output,
): Promise<{ made: PlannedSwitch; restart: boolean }> {
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
    const { keys, value, next } = made.planned;
    const restart = takesRestart(examine({ text, paths, env }).config, next);
    if (keys.length === 0) return { made, restart: false };
    await requirePinnedCases(`Cannot switch ${name}`, { config: next, paths });
    try {
      await saveSettings({ keys, before: text, value }, { paths, env }, out);
    } catch (error) {
      if (await readConfigText(paths.configFile) !== text) return undefined;
      throw error;
    }
    return { made, restart };
  });
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

/** That packages cannot be had now is no failure: the service tries again. */
async function fetchPackages(
  { channel }: PlannedSwitch,
  { packages }: PluginsDeps,
): Promise<string[]> {
  if (channel === undefined) return [];
  const { name, dependencies } = channel.descriptor;
  try {
    await packages.ensure(channelPackages(name, dependencies));
    return [];
  } catch (error) {
    return [toErrorData(error).message];
  }
}
