import { assertEquals } from "@std/assert";
import type { GatewayDispatchPayload } from "discord.js";
import { bareEvent, isBare } from "./bare_event.ts";

const event = (t: string) =>
  ({ op: 0, t, s: 7, d: { id: "1" } }) as unknown as GatewayDispatchPayload;

Deno.test("bareEvent() keeps the number alone of what nobody looks into", () => {
  assertEquals(bareEvent(event("GUILD_CREATE")) as unknown, {
    op: 0,
    t: "GUILD_CREATE",
    s: 7,
    d: null,
  });
  assertEquals(bareEvent(event("MESSAGE_CREATE")), event("MESSAGE_CREATE"));
  assertEquals([isBare(event("THREAD_CREATE")), isBare(event("READY"))], [true, false]);
});
