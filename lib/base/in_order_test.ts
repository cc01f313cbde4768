import { assertEquals, assertRejects } from "@std/assert";
import { InOrder } from "./in_order.ts";

const NEVER = new AbortController().signal;

Deno.test("InOrder.run() runs one of a key at a time, in order, past those that fail or give up", async () => {
  const all = new InOrder();
  const done: string[] = [];
  const steps = new Map(
    ["a1", "a3", "b1"].map((name) => [name, Promise.withResolvers<void>()] as const),
  );
  const run = (name: string, signal = NEVER) =>
    all.run(name[0]!, async () => {
      await steps.get(name)?.promise;
      done.push(name);
    }, signal);
  const gone = new AbortController();
  const first = run("a1");
  const failing = all.run("a", () => Promise.reject(new Error("no")), NEVER);
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
