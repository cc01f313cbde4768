/** How a channel is, in a word and in a line. */

import type { Answer } from "../api/client.ts";
import { formatAgo, t } from "../locale.ts";

type Channel = Answer<"channels.list">["channels"][number];
export type Status = NonNullable<Channel["status"]>;

const LOOKS: Readonly<Record<Status["state"], string>> = {
  off: "tag",
  starting: "tag running",
  running: "tag good",
  waiting: "tag warn",
  failed: "tag bad",
  stopping: "tag",
};

export function StateTag(
  { channel: { enabled, configured }, status }: {
    channel: { enabled: boolean; configured: boolean };
    status: Status | undefined;
  },
) {
  if (!enabled) {
    return <span class="tag">{configured ? t.channels.states.off : t.channels.notSetUp}</span>;
  }
  // One that runs in the service itself is on while the page is there.
  if (status === undefined) return <span class="tag good">{t.channels.states.running}</span>;
  return <span class={LOOKS[status.state]}>{t.channels.states[status.state]}</span>;
}

/** Since when, what it says of itself, and what waits to be delivered. */
export function stateWords({ since, detail, deliveries }: Status): string {
  const { waiting, dead, unknown } = deliveries;
  return [
    t.channels.since(formatAgo(since)),
    ...detail === undefined ? [] : [detail],
    ...waiting === 0 ? [] : [t.channels.undelivered(waiting)],
    ...unknown === 0 ? [] : [t.channels.uncertain(unknown)],
    ...dead === 0 ? [] : [t.channels.dead(dead)],
  ].join(" · ");
}
