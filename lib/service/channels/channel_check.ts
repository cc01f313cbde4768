/**
 * How channels are, in one line of GET /ready and `service doctor`.
 *
 * @module
 */

import type { ChannelStatus } from "../../channel/channel_status.ts";

/** Names that one line holds. */
const MAX_NAMED = 10;

/**
 * Such as `2 run; failed: email, irc`. Always fine: a platform that is away is no reason to send nobody to
 * this service any more, and how each channel is stands in `service channels status`.
 */
export function channelCheck(statuses: readonly ChannelStatus[]): { ok: true; detail: string } {
  const on = statuses.filter(({ state }) => state !== "off");
  if (on.length === 0) return { ok: true, detail: "none is on" };
  const named = (state: ChannelStatus["state"], words: string): string[] => {
    const names = on.filter((each) => each.state === state).map(({ runtimeName }) => runtimeName);
    if (names.length === 0) return [];
    const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : "";
    return [`${words}: ${names.slice(0, MAX_NAMED).join(", ")}${more}`];
  };
  const running = on.filter(({ state }) => state === "running").length;
  return {
    ok: true,
    detail: [
      `${running} of ${on.length} run`,
      ...named("failed", "failed"),
      ...named("waiting", "to be started again"),
      ...named("starting", "starting"),
      ...named("stopping", "stopping"),
    ].join("; "),
  };
}
