/**
 * Writes values of a channel into the configuration file: a running service takes that up by itself.
 *
 * @module
 */

import type { Section } from "../../lib/channel/management.ts";
import { updateSection } from "../../lib/channel/management/update_section.ts";
import { readConfigText } from "../../lib/config/config_file.ts";
import { planSection } from "../../lib/operations/channels/plan_section.ts";
import type { UsableChannel } from "../../lib/registry/channel_registry.ts";
import { readConfig } from "../../lib/settings/load.ts";
import { requirePinnedCases } from "../../lib/settings/pinned_cases.ts";
import { untilWritten } from "../../lib/settings/write_settings.ts";
import { saveSettings } from "../config/save_settings.ts";
import type { StateDeps } from "../operator/with_state.ts";
import type { Output } from "../output.ts";

/** What is written. */
export interface ValuesAsked {
  channel: UsableChannel;
  instanceId: string | undefined;
  /** Made of the section as the file has it. */
  values: (written: Section) => Readonly<Record<string, unknown>>;
}

/** With its audit record, anew if somebody else was faster. False: the file held all of it already. */
export async function writeValues(
  { channel, instanceId, values }: ValuesAsked,
  { paths, env }: StateDeps,
  out: Output,
): Promise<boolean> {
  const { name } = channel.descriptor;
  const edit = (section: Section) =>
    updateSection({ channel, section, values: values(section), instanceId });
  const { isChanged } = await untilWritten(async () => {
    const { text } = await readConfig({ paths });
    const { keys, value, next } = planSection({
      text,
      path: ["channels", name],
      edit,
      paths,
      env,
      // A variable that is not set in this shell may be set where the service runs.
      tolerates: ({ kind }) => kind === "reference",
    });
    await requirePinnedCases(`Cannot change channels.${name}`, { config: next, paths });
    try {
      await saveSettings({ keys, before: text, value }, { paths, env }, out);
      return { isChanged: keys.length > 0 };
    } catch (error) {
      if (await readConfigText(paths.configFile) !== text) return undefined;
      throw error;
    }
  });
  return isChanged;
}
