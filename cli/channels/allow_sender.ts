/**
 * Lets a stranger write, by the configuration file: a running service takes that up by itself.
 *
 * @module
 */

import type { Section } from "../../lib/channel/management.ts";
import { updateSection } from "../../lib/channel/management/update_section.ts";
import { readConfigText } from "../../lib/config/config_file.ts";
import { valuesAllowing } from "../../lib/operations/channels/allow_sender.ts";
import { findChannel } from "../../lib/operations/channels/find_channel.ts";
import { planSection } from "../../lib/operations/channels/plan_section.ts";
import { readConfig } from "../../lib/settings/load.ts";
import { requirePinnedCases } from "../../lib/settings/pinned_cases.ts";
import { untilWritten } from "../../lib/settings/write_settings.ts";
import type { Stranger } from "../../lib/state/pairing_store.ts";
import { saveSettings } from "../config/save_settings.ts";
import type { StateDeps } from "../operator/with_state.ts";
import type { Output } from "../output.ts";
import { loadChannels } from "../plugins/deps.ts";

/** Writes it, with its audit record, anew if somebody else was faster. */
export async function allowSender(
  { channel: name, instanceId, senderId }: Stranger,
  { paths, env }: StateDeps,
  out: Output,
): Promise<void> {
  const channel = findChannel(await loadChannels(), name);
  const edit = (section: Section) => {
    const values = valuesAllowing(channel, { instanceId, senderId }, section);
    return updateSection({ channel, section, values, instanceId });
  };
  await untilWritten(async () => {
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
    await requirePinnedCases(`Cannot change channels.${name}.allowFrom`, { config: next, paths });
    try {
      await saveSettings({ keys, before: text, value }, { paths, env }, out);
      return true;
    } catch (error) {
      if (await readConfigText(paths.configFile) !== text) return undefined;
      throw error;
    }
  });
}
