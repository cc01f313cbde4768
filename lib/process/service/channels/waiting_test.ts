import { assertEquals, assertRejects } from "@std/assert";
import { InOrder, orAborted, Places } from "./waiting.ts";

const NEVER = new AbortController().signal;

Deno.test("InOrder.run() runs one of a key at a time, in order, past those that fail or give up", async () => {
  const all = new InOrder();
  const done: string[] = [];
  const steps = new Map(
    ["a1", "a3", "b1"].map((name) => [name, Promise.withResolvers<void>()] as const),
  );
  const run = (name: string, signal = NEVER) =>
    all.run(name[0]!, signal, async () => {
      await steps.get(name)?.promise;
      done.push(name);
    });
  const gone = new AbortController();
  const first = run("a1");
  const failing = all.run("a", NEVER, () => Promise.reject(new Error("no")));
  const leaving = run("a2", gone.signal);
  const third = run("a3");
  const other = run("b1");
  gone.abort(new Error("gone"));
  await assertRejects(() => leaving, Error, "gone");
  steps.get("b1")!.resolve();
  await other;
  steps.get("a3")!.resolve();
  assertEquals(done, ["b1"]);
  steps.get("a1")!.resolve();
  await first;
  await assertRejects(() => failing, Error, "no");
  await third;
  assertEquals(done, ["b1", "a1", "a3"]);
  await Promise.resolve();
  assertEquals(all.size, 0);
});

Deno.test("Places.take() gives so many, then in order; one that gave up takes none", async () => {
  const places = new Places(1);
  const leave = await places.take(NEVER);
  const gone = new AbortController();
  const order: string[] = [];
  const left = places.take(gone.signal);
  const second = places.take(NEVER).then((leave) => (order.push("second"), leave));
  const third = places.take(NEVER).then((leave) => (order.push("third"), leave));
  gone.abort(new Error("gone"));
  await assertRejects(() => left, Error, "gone");
  leave();
  leave();
  (await second)();
  assertEquals(order, ["second"]);
  (await third)();
  // One that is given to somebody who leaves at that moment goes on.
  const held = await places.take(NEVER);
  const late = new AbortController();
  const lost = places.take(late.signal);
  held();
  late.abort(new Error("late"));
  const kept = await lost.catch(() => undefined);
  kept?.();
  (await places.take(NEVER))();
});

Deno.test("orAborted() gives the outcome, or the signal's reason if that comes first", async () => {
  assertEquals(await orAborted(Promise.resolve(1), NEVER), 1);
  await assertRejects(() => orAborted(Promise.reject(new Error("no")), NEVER), Error, "no");
  const gone = new AbortController();
  const left = orAborted(new Promise(() => {}), gone.signal);
  gone.abort(new Error("gone"));
  await assertRejects(() => left, Error, "gone");
  await assertRejects(() => orAborted(Promise.resolve(1), gone.signal), Error, "gone");
});
