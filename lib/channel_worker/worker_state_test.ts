import { assertEquals } from "@std/assert";
import { fakeClock } from "../agent/testing/fake_clock.ts";
import { WorkerState } from "./worker_state.ts";

Deno.test("WorkerState puts a note behind whatever the detail is, until there is none", () => {
  const told: unknown[] = [];
  const state = new WorkerState({ notify: (_, data) => void told.push(data), clock: fakeClock() });
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
  assertEquals(told, [
    "2 messages could not be taken",
    "connected; 2 messages could not be taken",
    `${"x".repeat(200)}; ${"n".repeat(100)}`,
    "x".repeat(200),
  ]);
});
