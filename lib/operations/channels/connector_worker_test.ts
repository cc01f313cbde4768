import { assertEquals, assertStringIncludes } from "@std/assert";
import { systemClock } from "../../base/clock.ts";
import { WorkerFixture } from "./testing/worker_fixture.ts";
import { Connects } from "./connects.ts";

/** A connection over a real worker of a module in testing/ of this folder. */
async function connection(module: string) {
  const fixture = await WorkerFixture.open();
  const applied: unknown[] = [];
  const { boot, ...source } = fixture.source({ exportName: "connector", kind: "connector" });
  const connects = new Connects({
    workers: fixture.workers,
    sourceOf: () =>
      Promise.resolve({
        ...source,
        boot: { ...boot, module: new URL(`./testing/${module}`, import.meta.url).href },
      }),
    isSecret: (_, field) => field === "botToken",
    apply: ({ values }) => Promise.resolve(void applied.push(values)),
    clock: systemClock,
  });
  const ask = (action: "start" | "poll" | "cancel") =>
    connects.answer({ name: "probe", action, query: { secret: "brought-secret" }, by: "t" });
  return { fixture, applied, ask };
}

Deno.test("a connector keeps its memory from start to end, in one worker", async () => {
  const { fixture, applied, ask } = await connection("counting_connector.ts");
  assertEquals(await ask("start"), { state: "waiting", message: "poll 0" });
  assertEquals(await ask("poll"), { state: "waiting", message: "poll 1" });
  assertEquals(await ask("poll"), {
    state: "connected",
    message: "It is [secret of the channel]",
  });
  assertEquals(applied, [{ server: "irc.example", botToken: "brought-secret" }]);
  // Another start is another worker.
  assertEquals((await ask("start")).message, "poll 0");
  assertEquals((await ask("cancel")).state, "cancelled");
  await fixture.close();
});

Deno.test("a connector whose module throws, or is none, has failed and says why", async () => {
  for (
    const [module, words] of [
      ["../../../channel_worker/testing/throwing_module.ts", "probe could not be connected"],
      ["settings_fixture.ts", "probe could not be connected"],
    ] as const
  ) {
    const { fixture, applied, ask } = await connection(module);
    const { state, message } = await ask("start");
    assertEquals(state, "failed");
    assertStringIncludes(message, words);
    assertEquals(applied, []);
    await fixture.close();
  }
});
