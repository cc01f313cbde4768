import { assertEquals } from "@std/assert";
import { Channel, type ChannelConfig } from "./channel.ts";
import { withChannelFlags } from "./with_channel_flags.ts";

class Quiet extends Channel {
  override readonly name = "quiet";
  override start = () => Promise.resolve();
  override stop = () => Promise.resolve();
  override send = () => Promise.resolve();
  override isRunning = false;
}

Deno.test("Channel.isAllowed() compares exactly, and denies where nothing is listed (C31)", () => {
  const allows = (allowFrom: unknown, sender: string) =>
    new Quiet({ allowFrom } as ChannelConfig).isAllowed(sender);
  assertEquals(allows(["alice"], "alice"), true);
  assertEquals(allows(["alice"], "alice2"), false);
  assertEquals(allows(["alice"], "Alice"), false);
  assertEquals(allows(["*"], "anybody"), true);
  for (const list of [undefined, [], "*", "alice", { 0: "*" }, null]) {
    assertEquals(allows(list, "alice"), false);
  }
  const map = new Map([["allowFrom", ["*"]]]);
  assertEquals(new Quiet(map as ChannelConfig).isAllowed("alice"), false, "a plain map");
});

Deno.test("withChannelFlags() lets each flag of a channel win by itself (C29)", () => {
  const all = { sendProgress: false, sendToolHints: true, showReasoning: true };
  assertEquals(withChannelFlags({ sendToolHints: false, port: 1 }, all), {
    port: 1,
    sendProgress: false,
    sendToolHints: false,
    showReasoning: true,
  });
});
