import { assertEquals } from "@std/assert";
import { fakeClock } from "../agent/testing/fake_clock.ts";
import { PlaceState } from "./place_state.ts";
import type { FromPlace } from "./protocol.ts";

Deno.test("PlaceState puts a note behind whatever the detail is, until there is none", () => {
  const told: FromPlace[] = [];
  const state = new PlaceState({ say: (message) => void told.push(message), clock: fakeClock() });
  state.tell();
  state.setNote("2 messages could not be taken");
  state.tell();
  state.setDetail("connected");
  state.tell();
  state.tell();
  state.setDetail("x".repeat(300));
  state.setNote("n".repeat(300));
  state.tell();
  state.setNote("");
  state.tell();
  assertEquals(told.map((message) => message.type === "detail" ? message.detail : message.type), [
    "2 messages could not be taken",
    "connected; 2 messages could not be taken",
    `${"x".repeat(200)}; ${"n".repeat(100)}`,
    "x".repeat(200),
  ]);
});
