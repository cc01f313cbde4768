import { assertEquals } from "@std/assert";
import { fakeClock } from "../../agent/testing/fake_clock.ts";
import { NotConnectedError, PermanentDeliveryError, RetryLaterError } from "../delivery_error.ts";
import { Memory } from "./memory.ts";
import { StatusNotes } from "./status_notes.ts";

/** A platform of which every call is written down; `refuse` is what its calls reject with. */
class Platform {
  readonly calls: string[] = [];
  refuse: Error | undefined;
  readonly clock = fakeClock();
  #last = 0;

  open(memory?: Memory): StatusNotes<number> {
    return new StatusNotes<number>({
      post: (chatId, text) => this.#call(`post ${chatId} ${text}`, this.#last += 1),
      edit: (ref, text) => this.#call(`edit ${ref} ${text}`, undefined),
      remove: (ref, texts) => this.#call(`remove ${ref} ${texts}`, undefined),
      memory,
      clock: this.clock,
      everyMs: () => 1_000,
    });
  }

  #call<T>(call: string, result: T): Promise<T> {
    this.calls.push(call);
    return this.refuse === undefined ? Promise.resolve(result) : Promise.reject(this.refuse);
  }

  /** Moves time on, and lets what is due be done. */
  async tick(ms: number): Promise<void> {
    this.clock.tick(ms);
    for (let turns = 0; turns < 20; turns++) await Promise.resolve();
  }
}

Deno.test("show() changes one message, no more often than allowed, and the newest text counts", async () => {
  const platform = new Platform();
  const notes = platform.open();
  await notes.show("a", "reads");
  await notes.show("a", "thinks");
  await notes.show("a", "writes");
  assertEquals(platform.calls, ["post a reads"]);
  await platform.tick(1_000);
  assertEquals(platform.calls, ["post a reads", "edit 1 writes"]);
  // What is shown already is not shown again.
  await notes.show("a", "writes");
  await platform.tick(5_000);
  await notes.end("a");
  assertEquals(platform.calls.slice(2), ["remove 1 2"]);
  assertEquals(platform.clock.timers(), 0);
});

Deno.test("show() tells turns of a chat apart", async () => {
  const platform = new Platform();
  const notes = platform.open();
  await notes.show("a", "one", "1");
  await notes.show("a", "two", "2");
  await notes.end("a", "1");
  await notes.end("a", "1");
  await notes.end("a");
  assertEquals(platform.calls, ["post a one", "post a two", "remove 1 1"]);
});

Deno.test("end() waits for the post that is under way", async () => {
  const platform = new Platform();
  const notes = platform.open();
  const shown = notes.show("a", "reads");
  await notes.end("a");
  await shown;
  assertEquals(platform.calls, ["post a reads", "remove 1 1"]);
});

Deno.test("show() leaves out what is refused, and obeys a time to come again", async () => {
  const platform = new Platform();
  const notes = platform.open();
  platform.refuse = new RetryLaterError("too much", 30_000);
  await notes.show("a", "reads");
  platform.refuse = undefined;
  await notes.show("a", "writes");
  await platform.tick(29_999);
  assertEquals(platform.calls, ["post a reads"]);
  await platform.tick(1);
  assertEquals(platform.calls, ["post a reads", "post a writes"]);
  await notes.close();
});

Deno.test("end() tries again what may be mended, and nothing else", async () => {
  const platform = new Platform();
  const notes = platform.open();
  await notes.show("a", "reads");
  platform.refuse = new NotConnectedError("away");
  await notes.end("a");
  platform.refuse = undefined;
  await platform.tick(2_500);
  assertEquals(platform.calls.slice(1), ["remove 1 1", "remove 1 1"]);
  await notes.show("a", "reads");
  platform.refuse = new PermanentDeliveryError("gone");
  await notes.end("a");
  assertEquals(platform.clock.timers(), 0);
});

Deno.test("restore() takes away what a process that was killed has left", async () => {
  const stateDir = await Deno.makeTempDir();
  const platform = new Platform();
  const first = new Memory(stateDir);
  await platform.open(first).show("a", "reads");
  const second = new Memory(stateDir);
  const notes = platform.open(second);
  notes.restore();
  // A note of the same turn is another one.
  await notes.show("a", "writes");
  await platform.tick(0);
  assertEquals(platform.calls.slice(1), ["remove 1 1", "post a writes"]);
  await notes.end("a");
  assertEquals(second.entries("status_note"), []);
  await notes.close();
  first.close();
  second.close();
  await Deno.remove(stateDir, { recursive: true });
});

Deno.test("close() ends every wait, and leaves what stands to the next start", async () => {
  const stateDir = await Deno.makeTempDir();
  const platform = new Platform();
  const memory = new Memory(stateDir);
  const notes = platform.open(memory);
  await notes.show("a", "reads");
  await notes.show("a", "writes");
  await notes.close();
  await notes.show("a", "more");
  await notes.end("a");
  assertEquals([platform.calls, platform.clock.timers()], [["post a reads"], 0]);
  assertEquals(memory.entries("status_note").length, 1);
  memory.close();
  await Deno.remove(stateDir, { recursive: true });
});
