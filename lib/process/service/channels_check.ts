/**
 * How channels are, as one of the checks of GET /ready. A channel that cannot reach its platform is no
 * reason to restart the service, so the check is never one that has failed.
 *
 * @module
 */

import type { ChannelStatus } from "../../channel/channel_status.ts";
import type { ServiceBoot } from "../../authority/protocol.ts";

/** Nothing where no channel is switched on. */
export function channelsCheck(statuses: readonly ChannelStatus[]): ServiceBoot["checks"] {
  const on = statuses.filter(({ state }) => state !== "off");
  if (on.length === 0) return {};
  const rest = on.filter(({ state }) => state !== "running");
  const detail = [
    `${on.length - rest.length} of ${on.length} run`,
    ...rest.map(({ runtimeName, state, problem }) =>
      `${runtimeName} is ${state}${problem === undefined ? "" : `: ${problem}`}`
    ),
  ].join("; ");
  return { channels: { ok: true, detail } };
}
