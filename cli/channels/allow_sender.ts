/**
 * Lets a stranger write, by the configuration file.
 *
 * @module
 */

import { valuesAllowing } from "../../lib/operations/channels/allow_sender.ts";
import { findChannel } from "../../lib/operations/channels/find_channel.ts";
import type { Stranger } from "../../lib/state/pairing_store.ts";
import type { StateDeps } from "../operator/with_state.ts";
import type { Output } from "../output.ts";
import { loadChannels } from "../plugins/deps.ts";
import { writeValues } from "./write_values.ts";

/** Writes it, with its audit record. */
export async function allowSender(
  { channel: name, instanceId, senderId }: Stranger,
  deps: StateDeps,
  out: Output,
): Promise<void> {
  const channel = findChannel(await loadChannels(), name);
  const values = (written: Parameters<typeof valuesAllowing>[2]) =>
    valuesAllowing(channel, { instanceId, senderId }, written);
  await writeValues({ channel, instanceId, values }, deps, out);
}
