import { assert, assertEquals, assertRejects } from "@std/assert";
import { ServiceError } from "../base/errors.ts";
import type { RequestKey } from "../contract/journal.ts";
import { calls, hangs, says, scriptedModel } from "./testing/scripted_model.ts";
import { eventsOf, only, testAgent, textOf, until } from "./testing/test_agent.ts";

const requestKey: RequestKey = { scope: "me api:default", key: "k1", digest: "d1" };
const other: RequestKey = { ...requestKey, digest: "d2" };

Deno.test("submit() with a key gives the same turn again, live and finished, and asks the model once", async () => {
  const model = scriptedModel([says("one"), says("two")]);
  await using agent = testAgent({ model });
  const [first, second] = await Promise.all([
    agent.submit("hi", { requestKey }),
    agent.submit("hi", { requestKey }),
  ]);
  assertEquals([first.repeated, second.repeated], [false, true]);
  assertEquals(first.id, second.id);
  assertEquals(await eventsOf(second), await eventsOf(first));
  const third = await agent.submit("hi", { requestKey });
  assertEquals([third.repeated, third.turn.status], [true, "done"]);
  assertEquals(textOf(await eventsOf(third)), "one");
  assertEquals(model.requests.length, 1);
  assertEquals(agent.turns.counts(), { running: 0, queued: 0 });
});

Deno.test("submit() refuses a key that was used with another request", async () => {
  await using agent = testAgent();
  await eventsOf(await agent.submit("hi", { requestKey }));
  const error = await assertRejects(() => agent.submit("ho", { requestKey: other }), ServiceError);
  assertEquals(error.code, "idempotency_conflict");
  assertEquals(agent.turns.counts(), { running: 0, queued: 0 });
});

Deno.test("submit() finds a repeat before it looks for a place", async () => {
  const model = scriptedModel([hangs()]);
  await using agent = testAgent({ model });
  const first = await agent.submit("hi", { requestKey });
  const waiting = await Promise.all(Array.from({ length: 64 }, () => agent.submit("more")));
  const full = await assertRejects(() => agent.submit("one more"), ServiceError);
  assertEquals(full.code, "queue_full");
  assertEquals((await agent.submit("hi", { requestKey })).id, first.id);
  for (const handle of [...waiting, first]) handle.cancel();
  await eventsOf(first);
});

Deno.test("submit() answers a burst of repeats, more than may wait, and asks the model once", async () => {
  const model = scriptedModel([says("one")]);
  await using agent = testAgent({ model });
  const burst = await Promise.all(
    Array.from({ length: 200 }, () => agent.submit("hi", { requestKey })),
  );
  assertEquals(new Set(burst.map(({ id }) => id)).size, 1);
  assertEquals(burst.filter(({ repeated }) => !repeated).length, 1);
  await eventsOf(burst[0]!);
  assertEquals(model.requests.length, 1);
});

Deno.test("submit() tries again with each of a burst whose first could not be accepted", async () => {
  await using agent = testAgent();
  const image = { type: "image" as const, mediaType: "image/png", bytes: new Uint8Array([7]) };
  const { hold } = agent.media;
  agent.media.hold = (bytes) => {
    agent.media.hold = hold;
    return Promise.reject(new Error(`no room for ${bytes.length}`));
  };
  const burst = await Promise.allSettled(
    Array.from({ length: 3 }, () => agent.submit("", { input: [image], requestKey })),
  );
  assertEquals(burst.map(({ status }) => status), ["rejected", "fulfilled", "fulfilled"]);
});

Deno.test("submit() takes a key anew after its turn was cancelled without a tool, and only then", async () => {
  const model = scriptedModel([hangs(), calls(["write", {}]), hangs(), says("third")]);
  await using agent = testAgent({ model });
  const first = await agent.submit("hi", { requestKey });
  await model.asked(1);
  first.cancel();
  await eventsOf(first);

  const second = await agent.submit("hi", { requestKey });
  assertEquals(second.repeated, false);
  await model.asked(3);
  second.cancel();
  await eventsOf(second);

  const third = await agent.submit("hi", { requestKey });
  assertEquals([third.repeated, third.id], [true, second.id]);
  assertEquals(only(await eventsOf(third), "turn_end")[0]!.status, "cancelled");
});

Deno.test("find() gives a turn as it is now, with a handle that works", async () => {
  const model = scriptedModel([hangs()]);
  await using agent = testAgent({ model });
  const first = await agent.submit("hi");
  await until(first, "turn_start");
  const found = agent.turns.find(first.id)!;
  assertEquals([found.turn.status, found.repeated], ["running", false]);
  found.cancel();
  assertEquals(await eventsOf(found), await eventsOf(first));
  assertEquals(agent.turns.find(first.id)!.turn.status, "cancelled");
  assertEquals(agent.turns.find("nobody"), undefined);
});

Deno.test("setPresent() decides whether an action counts as attended", async () => {
  const reads = calls(["read", {}]);
  const model = scriptedModel([reads, reads, says("ok"), reads, says("ok")]);
  const handed = Promise.withResolvers<void>();
  let acts = 0;
  await using agent = testAgent({
    model,
    async act({ tool }) {
      if (++acts === 1) await handed.promise;
      return { status: "ok", output: tool };
    },
  });
  const handle = await agent.submit("hi");
  await until(handle, "tool_call");
  handle.setPresent(false);
  handed.resolve();
  await eventsOf(handle);
  assertEquals(agent.acts.map(({ context }) => context.attended), [true, false]);

  const unattended = await agent.submit("hi", { attended: false });
  unattended.setPresent(true);
  await eventsOf(unattended);
  assertEquals(agent.acts.at(-1)!.context.attended, false);
});

Deno.test("submit() keeps files while it accepts, and lets them go in each case", async () => {
  await using agent = testAgent();
  const image = { type: "image" as const, mediaType: "image/png", bytes: new Uint8Array([7]) };
  const handle = await agent.submit("", { input: [image] });
  const [part] = handle.turn.input;
  assert(part?.type === "image" && "file" in part);
  assert(agent.journal.hasFile(part.file.sha256));
  await eventsOf(handle);
  assertEquals(agent.media.held, []);

  await agent.turns.drain({ graceMs: 1 });
  await assertRejects(() => agent.submit("", { input: [image] }), ServiceError);
  assertEquals(agent.media.held, []);
});
