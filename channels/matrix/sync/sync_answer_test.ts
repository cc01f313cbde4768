import { assertEquals } from "@std/assert";
import { checkInbound } from "../../../lib/channel/check_inbound.ts";
import { readMatrixEvent } from "./sync_answer.ts";

Deno.test("readMatrixEvent() gives no time for which the service would refuse a message", () => {
  const sentAt = (origin_server_ts: unknown) =>
    readMatrixEvent({
      event_id: "$e",
      type: "m.room.message",
      sender: "@ann:example.org",
      origin_server_ts,
      content: { body: "hi" },
    })?.sentAt;
  assertEquals(sentAt(1_700_000_000_000), 1_700_000_000_000);
  for (const strange of [0, -1, 1, 1_700_000_000, Number.MIN_SAFE_INTEGER, "7", null, 1.5, 1e300]) {
    const time = sentAt(strange);
    const message = { senderId: "a", chatId: "b", content: "", streaming: false, sentAt: time };
    const checked = checkInbound(message, { runtimeName: "matrix", stateDir: "/state" });
    assertEquals(checked.sentAt, time, String(strange));
  }
});
