import { assertEquals } from "@std/assert";
import { fakeClock } from "../../agent/testing/fake_clock.ts";
import { Typing } from "./typing.ts";

function open(show: (chatId: string) => Promise<unknown> = () => Promise.resolve()) {
  const clock = fakeClock();
  const shown: string[] = [];
  const typing = new Typing({
    clock,
    everyMs: 4_000,
    show(chatId) {
      shown.push(chatId);
      return show(chatId);
    },
    hide: (chatId) => Promise.resolve(shown.push(`-${chatId}`)),
  });
  return { typing, clock, shown };
}

Deno.test("begin() shows at once and again until end()", async () => {
  const { typing, clock, shown } = open();
  typing.begin("a");
  for (let at = 0; at < 2; at++) {
    await Promise.resolve().then(() => {}).then(() => {});
    clock.tick(4_000);
  }
  assertEquals(shown, ["a", "a", "a"]);
  typing.end("a");
  clock.tick(60_000);
  assertEquals([shown.at(-1), shown.length, clock.timers()], ["-a", 4, 0]);
});

Deno.test("end() of one turn leaves the signs of another in the chat", () => {
  const { typing, clock, shown } = open();
  typing.begin("a");
  typing.begin("a");
  typing.end("a");
  assertEquals([shown, clock.timers()], [["a"], 1]);
  typing.end("a");
  typing.end("a");
  typing.end("unknown");
  assertEquals([shown, clock.timers()], [["a", "-a"], 0]);
});

Deno.test("begin() gives up after ten minutes, and close() at once", async () => {
  const { typing, clock, shown } = open();
  typing.begin("a");
  for (let at = 0; at < 200; at++) {
    await Promise.resolve().then(() => {}).then(() => {});
    clock.tick(4_000);
  }
  assertEquals([shown.length, clock.timers()], [150, 0]);
  typing.begin("b");
  typing.close();
  assertEquals(clock.timers(), 0);
});

Deno.test("begin() asks a platform that does not answer once", () => {
  const { typing, clock, shown } = open(() => new Promise(() => {}));
  typing.begin("a");
  clock.tick(20_000);
  assertEquals(shown, ["a"]);
  typing.close();
});

Deno.test("begin() goes on when the platform refuses a sign", async () => {
  const { typing, clock, shown } = open(() => Promise.reject(new Error("no")));
  typing.begin("a");
  await Promise.resolve().then(() => {}).then(() => {}).then(() => {});
  clock.tick(4_000);
  assertEquals(shown, ["a", "a"]);
  typing.close();
});

Deno.test("begin() shows nothing once it is closed", () => {
  const { typing, clock, shown } = open();
  typing.begin("a");
  typing.close();
  typing.begin("a");
  typing.begin("b");
  assertEquals([shown, clock.timers()], [["a"], 0]);
});
