import { assertEquals } from "@std/assert";
import type { ChannelState, ChannelStatus } from "../../channel/channel_status.ts";
import { channelCheck } from "./channel_check.ts";

function status(runtimeName: string, state: ChannelState): ChannelStatus {
  return {
    runtimeName,
    channel: runtimeName,
    displayName: runtimeName,
    state,
    since: 0,
    restarts: 0,
    deliveries: { waiting: 0, retrying: 0, sent: 0, unknown: 0, dead: 0 },
  };
}

Deno.test("channelCheck() names what does not run, and is fine all the same", () => {
  assertEquals(channelCheck([]), { ok: true, detail: "none is on" });
  assertEquals(channelCheck([status("a", "off")]).detail, "none is on");
  assertEquals(
    channelCheck([
      status("a", "running"),
      status("b", "failed"),
      status("c", "waiting"),
      status("d", "off"),
      status("e", "failed"),
    ]),
    { ok: true, detail: "1 of 4 run; failed: b, e; to be started again: c" },
  );
  const many = Array.from({ length: 12 }, (_, at) => status(`c${at}`, "failed"));
  assertEquals(channelCheck(many).detail.endsWith("c9 and 2 more"), true);
});
