import { assertEquals } from "@std/assert";
import type { ChannelState, ChannelStatus } from "../../channel/channel_status.ts";
import { channelsCheck } from "./channels_check.ts";

function status(runtimeName: string, state: ChannelState, problem?: string): ChannelStatus {
  return {
    runtimeName,
    channel: runtimeName,
    displayName: runtimeName,
    state,
    problem,
    since: 0,
    restarts: 0,
    deliveries: { waiting: 0, retrying: 0, sent: 0, unknown: 0, dead: 0 },
  };
}

Deno.test("channelsCheck() names what does not run, and never fails the service for it", () => {
  assertEquals(channelsCheck([status("irc", "off")]), {});
  assertEquals(
    channelsCheck([
      status("irc", "running"),
      status("email", "waiting", "no such host"),
      status("email.work", "starting"),
      status("webhook", "off"),
    ]),
    {
      channels: {
        ok: true,
        detail: "1 of 3 run; email is waiting: no such host; email.work is starting",
      },
    },
  );
});
