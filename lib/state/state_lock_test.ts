import { assertEquals, assertRejects } from "@std/assert";
import { ServiceError } from "../base/errors.ts";
import { StateLock } from "./state_lock.ts";
import { tempState } from "./testing/temp_state.ts";

async function tempLock() {
  const temp = await tempState();
  const path = `${temp.root}/lock`;
  return { path, [Symbol.asyncDispose]: () => temp[Symbol.asyncDispose]() };
}

Deno.test("run() lets one work at a time, in one process and between two", async () => {
  await using temp = await tempLock();
  const locks = [new StateLock(temp), new StateLock(temp)];
  let inside = 0;
  const seen: number[] = [];
  await Promise.all(Array.from({ length: 20 }, (_, index) =>
    locks[index % 2]!.run(async () => {
      seen.push(++inside);
      await new Promise((resolve) => setTimeout(resolve));
      inside--;
    })));
  assertEquals(seen, Array(20).fill(1));
});

Deno.test("run() goes on after work that failed, and tells its failure", async () => {
  await using temp = await tempLock();
  const lock = new StateLock(temp);
  const failing = lock.run(() => Promise.reject(new Error("that one")));
  const next = lock.run(() => Promise.resolve("done"));
  await assertRejects(() => failing, Error, "that one");
  assertEquals(await next, "done");
});

Deno.test("run() gives up when another process holds on to the lock, and works once it is dead", async () => {
  await using temp = await tempLock();
  const code = `
    const file = await Deno.open(${
    JSON.stringify(temp.path)
  }, { create: true, read: true, write: true });
    await file.lock(true);
    console.log("locked");
    setInterval(() => {}, 1000);
  `;
  const holder = new Deno.Command(Deno.execPath(), {
    args: ["eval", code],
    stdin: "null",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const reader = holder.stdout.getReader();
  await reader.read();
  const lock = new StateLock({ ...temp, waitMs: 50 });
  const error = await assertRejects(() => lock.run(() => Promise.resolve()), ServiceError);
  assertEquals(error.code, "overloaded");
  holder.kill("SIGKILL");
  await holder.status;
  await reader.cancel();
  assertEquals(await lock.run(() => Promise.resolve("done")), "done");
});

Deno.test("run() is no lock on a file that was removed", async () => {
  await using temp = await tempLock();
  const [first, second] = [new StateLock(temp), new StateLock(temp)];
  await first.run(() => Promise.resolve());
  await Deno.remove(temp.path);
  const order: string[] = [];
  await Promise.all([first, second].map((lock, index) =>
    lock.run(async () => {
      order.push(`in ${index}`);
      await new Promise((resolve) => setTimeout(resolve));
      order.push(`out ${index}`);
    })
  ));
  assertEquals(order.map((each) => each.split(" ")[0]), ["in", "out", "in", "out"]);
});

Deno.test("run() refuses work when too much waits", async () => {
  await using temp = await tempLock();
  const lock = new StateLock(temp);
  const gate = Promise.withResolvers<void>();
  const waiting = Array.from({ length: 1_000 }, () => lock.run(() => gate.promise));
  const error = await assertRejects(() => lock.run(() => Promise.resolve()), ServiceError);
  assertEquals(error.code, "overloaded");
  gate.resolve();
  await Promise.all(waiting);
  assertEquals(await lock.run(() => Promise.resolve("done")), "done");
});
