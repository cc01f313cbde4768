import { assertEquals, assertRejects } from "@std/assert";
import { abortable } from "./abortable.ts";

Deno.test("abortable() is as its promise", async () => {
  const { signal } = new AbortController();
  assertEquals(await abortable(Promise.resolve(1), signal), 1);
  await assertRejects(() => abortable(Promise.reject(new Error("no")), signal), Error, "no");
});

Deno.test("abortable() ends with its signal, whatever the promise comes to", async () => {
  const stopping = new AbortController();
  const late = Promise.withResolvers<void>();
  const waiting = abortable(late.promise, stopping.signal);
  stopping.abort(new Error("stopped"));
  await assertRejects(() => waiting, Error, "stopped");
  // Nobody hears of it, and no process ends by it.
  late.reject(new Error("too late"));
  await assertRejects(
    () => abortable(new Promise(() => {}), AbortSignal.abort(new Error("before"))),
    Error,
    "before",
  );
});

Deno.test("abortable() gives the outcome, or the signal's reason if that comes first", async () => {
  assertEquals(await abortable(Promise.resolve(1), new AbortController().signal), 1);
  await assertRejects(
    () => abortable(Promise.reject(new Error("no")), new AbortController().signal),
    Error,
    "no",
  );
  const gone = new AbortController();
  const left = abortable(new Promise(() => {}), gone.signal);
  gone.abort(new Error("gone"));
  await assertRejects(() => left, Error, "gone");
  await assertRejects(() => abortable(Promise.resolve(1), gone.signal), Error, "gone");
});
