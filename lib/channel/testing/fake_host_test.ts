import { assertEquals, assertRejects } from "@std/assert";
import { systemClock } from "../../base/clock.ts";
import type { InboundMessage } from "../../contract/inbound_message.ts";
import { countingClock } from "./counting_clock.ts";
import { FakeHost } from "./fake_host.ts";

function message(more: Partial<InboundMessage> = {}): InboundMessage {
  return { senderId: "alice", chatId: "room", content: "hi", streaming: false, ...more };
}

Deno.test("FakeHost accepts a message once by its id and chat, as the service does (W2)", async () => {
  const host = await FakeHost.open({ name: "toy" });
  const first = await host.publish(message({ messageId: "1" }));
  assertEquals(first, { kind: "turn", turnId: "turn-1", repeated: false });
  const again = await host.publish(message({ messageId: "1" }));
  assertEquals(again, { kind: "turn", turnId: "turn-1", repeated: true });
  const elsewhere = await host.publish(message({ messageId: "1", chatId: "other" }));
  assertEquals(elsewhere, { kind: "turn", turnId: "turn-2", repeated: false });
  // Without an id nothing tells a repeat.
  for (const turnId of ["turn-3", "turn-4"]) {
    assertEquals(await host.publish(message()), { kind: "turn", turnId, repeated: false });
  }
  await host.close();
});

Deno.test("FakeHost refuses what the service would, and keeps why", async () => {
  const host = await FakeHost.open({ name: "toy" });
  for (
    const [wrong, words] of [
      [{ senderId: "" }, "senderId"],
      [{ chatId: "a\nb" }, "chatId"],
      [{ content: 7 as unknown as string }, "content"],
      [{ sessionKey: "other:1" }, "sessionKey"],
      [{ media: ["/etc/passwd"] }, "media"],
      [{ metadata: { at: 1n } }, "metadata"],
    ] as const
  ) {
    await assertRejects(() => host.publish(message(wrong)), Error, `${words} is `);
  }
  assertEquals([host.offered.length, host.published.length, host.refused.length], [0, 0, 6]);
  await host.close();
});

Deno.test("FakeHost holds messages until they are let go, and fails the next one alone", async () => {
  const host = await FakeHost.open({ name: "toy" });
  const release = host.hold();
  const offered = host.changed();
  host.failNext(new Error("the disk is full"));
  const failing = host.publish(message({ content: "one" }));
  const going = host.publish(message({ content: "two" }));
  await offered;
  assertEquals(host.published, []);
  assertEquals(host.offered.map(({ content }) => content), ["one", "two"]);
  release();
  await assertRejects(() => failing, Error, "the disk is full");
  await going;
  assertEquals(host.published.map(({ content }) => content), ["two"]);
  await host.close();
});

Deno.test("FakeHost has a folder that goes with it, time that stands still, and keeps what is said", async () => {
  const host = await FakeHost.open({ name: "toy.work" });
  assertEquals((await Deno.stat(host.stateDir)).isDirectory, true);
  assertEquals(await host.transcribe(`${host.stateDir}/a.ogg`), `said in ${host.stateDir}/a.ogg`);
  await assertRejects(() => host.transcribe("/etc/passwd"), Error, "expected a file in");
  let rang = 0;
  host.clock.after(60_000, () => rang += 1);
  host.clock.tick(59_999);
  assertEquals([rang, host.clock.timers()], [0, 1]);
  host.clock.tick(1);
  assertEquals([rang, host.clock.timers()], [1, 0]);
  host.setDetail("x".repeat(300));
  assertEquals(host.details[0]!.length, 200);
  host.log.warning("low", { battery: 5 });
  assertEquals(host.lines, [{ level: "warning", message: "low", fields: { battery: 5 } }]);
  await host.close();
  await assertRejects(() => Deno.stat(host.stateDir), Deno.errors.NotFound);
});

Deno.test("FakeHost leaves a folder of the caller alone, and listens where a manifest says", async () => {
  const stateDir = await Deno.realPath(await Deno.makeTempDir());
  const host = await FakeHost.open({ name: "toy", stateDir });
  const listener = await host.listen(
    { host: "127.0.0.1", port: 0 },
    async (request) => new Response(`got ${await request.text()}`),
  );
  const answer = await fetch(listener.url, { method: "POST", body: "hi" });
  assertEquals(await answer.text(), "got hi");
  await listener.close();
  await host.close();
  assertEquals((await Deno.stat(stateDir)).isDirectory, true);
  await Deno.remove(stateDir);
});

Deno.test("countingClock() knows timers that wait, and no others", async () => {
  const clock = countingClock(systemClock);
  const { promise, resolve } = Promise.withResolvers<void>();
  const cancel = clock.after(60_000, () => {});
  clock.after(0, resolve);
  assertEquals(clock.timers(), 2);
  await promise;
  assertEquals(clock.timers(), 1);
  cancel();
  cancel();
  assertEquals(clock.timers(), 0);
});
