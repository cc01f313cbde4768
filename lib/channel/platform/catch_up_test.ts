import { assert, assertEquals } from "@std/assert";
import { fakeClock } from "../../agent/testing/fake_clock.ts";
import { NotConnectedError, PermanentDeliveryError, RetryLaterError } from "../delivery_error.ts";
import { CatchUp, type ChatPage } from "./catch_up.ts";

interface Chat {
  id: string;
  since: number;
}

const PAGE = 100;

/** Chats of so many messages each, which are numbered, and were all missed. */
class World {
  readonly clock = fakeClock();
  readonly sizes: Record<string, number>;
  readonly places = new Map<string, number>();
  readonly taken: Record<string, number[]> = {};
  readonly asked: string[] = [];
  readonly warnings: string[] = [];
  readonly refused: string[] = [];
  lists = 0;
  done = 0;
  /** What asking for a page of a chat, or storing it, fails with. */
  onPage: (chatId: string) => unknown = () => undefined;
  onTake: (chatId: string) => unknown = () => undefined;
  /** Found in a chat. */
  threads: Record<string, Chat[]> = {};
  readonly history: CatchUp<Chat, number>;

  constructor(sizes: Record<string, number>) {
    this.sizes = sizes;
    this.history = new CatchUp<Chat, number>({
      chats: () => {
        this.lists += 1;
        return Object.keys(sizes).map((id) => ({ id, since: this.places.get(id) ?? 0 }));
      },
      page: (chat, next) => this.#page(chat, Number(next ?? chat.since)),
      keyOf: (event) => ({ id: String(event), at: event }),
      take: ({ id }, events) => {
        const failure = this.onTake(id);
        if (failure !== undefined) return Promise.reject(failure);
        (this.taken[id] ??= []).push(...events);
        if (events.length > 0) this.places.set(id, events.at(-1)!);
        return Promise.resolve();
      },
      refused: ({ id }) => this.refused.push(id),
      done: () => Promise.resolve(this.done += 1),
      clock: this.clock,
      log: { info: () => {}, warning: (message) => void this.warnings.push(message) },
    });
  }

  #page({ id }: Chat, after: number): Promise<ChatPage<Chat, number>> {
    this.asked.push(`${id} ${after}`);
    const failure = this.onPage(id);
    if (failure !== undefined) return Promise.reject(failure);
    const length = Math.max(0, Math.min(PAGE, (this.sizes[id] ?? 1) - after));
    const events = Array.from({ length }, (_, at) => after + at + 1);
    // In no order, and one of them a second time.
    return Promise.resolve({
      events: [...events.toReversed(), ...events.slice(0, 1)],
      ...length === PAGE && { next: String(after + PAGE) },
      chats: this.threads[id],
    });
  }

  get counts(): Record<string, number> {
    return Object.fromEntries(Object.entries(this.taken).map(([id, { length }]) => [id, length]));
  }

  /** Lets time pass until it holds. */
  async until(holds: () => boolean, stepMs = 1_000): Promise<void> {
    while (!holds()) {
      this.clock.tick(stepMs);
      await new Promise((again) => setTimeout(again, 0));
    }
  }
}

Deno.test("CatchUp reads page by page as far as there are messages, the oldest first and each once", async () => {
  const world = new World({ a: 250, b: 0, c: 100 });
  await world.history.read();
  assertEquals(world.counts, { a: 250, b: 0, c: 100 });
  assertEquals(world.taken.a, Array.from({ length: 250 }, (_, at) => at + 1));
  assertEquals(world.asked, ["a 0", "a 100", "a 200", "b 0", "c 0", "c 100"]);
  assertEquals([world.warnings, world.done, world.history.isBehind()], [[], 1, false]);
  await world.history.read();
  assertEquals(world.asked.slice(6), ["a 250", "b 0", "c 100"]);
  assertEquals(world.clock.timers(), 0);
});

Deno.test("CatchUp reads 1,000 messages of a chat, and says that there are more", async () => {
  const world = new World({ a: 5_000, b: 3 });
  await world.history.read();
  assertEquals(world.counts, { a: 1_000, b: 3 });
  assertEquals(world.warnings, [
    "More was written than is fetched; the rest of it is left alone",
  ]);
});

Deno.test("CatchUp holds live events up for two minutes at most, and goes on reading", async () => {
  for (const error of [new RetryLaterError("later", 40_000), new NotConnectedError("away")]) {
    const world = new World({ a: 1, b: 1 });
    world.onPage = () => error;
    const startMs = world.clock.elapsed();
    let isHeld = true;
    void world.history.read().then(() => isHeld = false);
    await world.until(() => !isHeld);
    assert(world.clock.elapsed() - startMs <= 125_000, String(world.clock.elapsed() - startMs));
    assert(world.asked.length < 20, world.asked.join());
    world.onPage = () => undefined;
    await world.until(() => world.done === 1);
    assertEquals(world.counts, { a: 1, b: 1 });
    await world.history.close();
  }
});

Deno.test("CatchUp asks again where there is no answer, goes on with the others, and reads the chat later", async () => {
  const world = new World({ a: 1, b: 1, c: 1 });
  let failures = 2;
  let isBroken = true;
  world.onPage = (id) =>
    (id === "a" && failures-- > 0) || (id === "b" && isBroken)
      ? new Error("Bad Gateway")
      : undefined;
  let isHeld = true;
  void world.history.read().then(() => isHeld = false);
  await world.until(() => !isHeld);
  assertEquals(world.counts, { a: 1, c: 1 });
  assertEquals(world.asked.filter((one) => one === "a 0").length, 3);
  // How far that one was looked at stands still meanwhile.
  assertEquals(["a", "b", "c"].map((id) => world.history.isBehind(id)), [false, true, false]);
  assertEquals([world.history.isBehind(), world.done], [true, 0]);
  isBroken = false;
  await world.until(() => world.done === 1);
  assertEquals([world.counts, world.lists], [{ a: 1, b: 1, c: 1 }, 1]);
  assertEquals(world.history.isBehind(), false);
});

Deno.test("CatchUp reads again what could not be stored", async () => {
  const world = new World({ a: 2, b: 2 });
  let isFull = true;
  world.onTake = () => isFull ? new Error("database or disk is full") : undefined;
  await world.history.read();
  assertEquals([world.counts, world.done], [{}, 0]);
  isFull = false;
  await world.until(() => world.done === 1);
  assertEquals(world.counts, { a: 2, b: 2 });
});

Deno.test("CatchUp gives up a chat that it may not read, and no other", async () => {
  const world = new World({ a: 1, b: 1 });
  world.onPage = (id) => id === "a" ? new PermanentDeliveryError("not in it") : undefined;
  await world.history.read();
  assertEquals([world.refused, world.counts, world.done], [["a"], { b: 1 }, 1]);
  assertEquals(world.warnings, ["A channel cannot be read, and is left alone"]);
});

Deno.test("CatchUp reads the threads that it finds in a chat, behind that", async () => {
  const world = new World({ a: 1, b: 1 });
  world.threads = { a: [{ id: "a:1", since: 0 }, { id: "b", since: 0 }] };
  await world.history.read();
  assertEquals(world.asked, ["a 0", "b 0", "a:1 0"]);
});

Deno.test("CatchUp reads once more for what is missed while it reads, however often it is told", async () => {
  const world = new World({ a: 1 });
  world.onPage = () => {
    if (world.lists > 1) return undefined;
    world.sizes.a = 2;
    for (let times = 0; times < 3; times += 1) void world.history.read();
  };
  await world.history.read();
  assertEquals([world.lists, world.taken], [2, { a: [1, 2] }]);
});

Deno.test("CatchUp reads after a while what it is told to read later", async () => {
  const world = new World({ a: 1 });
  world.history.readLater();
  world.history.readLater();
  assertEquals([world.history.isBehind("a"), world.clock.timers()], [true, 1]);
  await world.until(() => world.done === 1);
  assertEquals([world.lists, world.counts], [1, { a: 1 }]);
});

Deno.test("CatchUp ends when it is closed, and takes nothing any more", async () => {
  const world = new World({ a: 300, b: 300 });
  world.onPage = () => {
    void world.history.close();
    return new Error("it is over");
  };
  await world.history.read();
  await world.history.close();
  assertEquals([world.asked, world.taken, world.done], [["a 0"], {}, 0]);
  await world.history.read();
  assertEquals([world.asked.length, world.clock.timers()], [1, 0]);
});

Deno.test("CatchUp keeps live events behind what was missed before them, and until they are stored", async () => {
  const world = new World({ a: 2 });
  const order: string[] = [];
  world.onTake = () => void order.push("missed");
  const read = world.history.read();
  let failures = 2;
  const kept = world.history.keep(() => {
    order.push("live");
    return failures-- > 0 ? Promise.reject(new Error("disk full")) : Promise.resolve();
  });
  await read;
  let isKept = false;
  void kept.then(() => isKept = true);
  await world.until(() => isKept);
  assertEquals(order, ["missed", "live", "live", "live"]);
  const waiting = world.history.keep(() => Promise.reject(new Error("disk full")));
  await world.history.close();
  await waiting;
  assertEquals(world.clock.timers(), 0);
});
