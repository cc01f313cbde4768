import { assert, assertEquals, assertRejects } from "@std/assert";
import fc from "fast-check";
import { Lanes, type Place } from "./lane.ts";
import { Room } from "./room.ts";
import { rounds } from "../../tests/support/rounds.ts";

interface Job {
  name: string;
  done: PromiseWithResolvers<void>;
}

function job(name: string): Job {
  return { name, done: Promise.withResolvers<void>() };
}

/** Lets everything that is due in microtasks happen. */
const settle = () => new Promise<void>((resolve) => setTimeout(resolve));

function lanes(options: { maxWaiting?: number; maxLanes?: number; room?: Room } = {}) {
  const started: string[] = [];
  return {
    started,
    lanes: new Lanes<Job>({
      maxWaiting: 64,
      maxLanes: 100,
      room: new Room(1_000),
      ...options,
      run: ({ name, done }) => {
        started.push(name);
        return done.promise;
      },
    }),
  };
}

Deno.test("Lanes run one job of a key at a time, in the order of entry, not of filling", async () => {
  const { lanes: all, started } = lanes();
  const [a, b] = [job("a"), job("b")];
  const first = all.enter("k")!;
  const second = all.enter("k")!;
  second.fill(b);
  assertEquals(started, []);
  first.fill(a);
  assertEquals(started, ["a"]);
  a.done.resolve();
  await settle();
  assertEquals(started, ["a", "b"]);
  b.done.reject(new Error("a job that fails"));
  await settle();
  assertEquals([all.size, all.waiting, all.running.size], [0, 0, 0]);
});

Deno.test("Lanes run jobs of different keys beside each other", () => {
  const { lanes: all, started } = lanes();
  all.enter("k")!.fill(job("a"));
  all.enter("l")!.fill(job("b"));
  assertEquals(started, ["a", "b"]);
  assertEquals([all.size, all.running.size], [2, 2]);
});

Deno.test("Lanes.enter() takes the bound in waiting places and in lanes, not more", () => {
  const { lanes: all } = lanes({ maxWaiting: 2, maxLanes: 2 });
  for (let n = 0; n < 3; n++) assert(all.enter("k"));
  assertEquals(all.enter("k"), undefined);
  assert(all.enter("l"));
  assertEquals(all.enter("m"), undefined);
  assert(all.enter("k", { always: true }));
  assert(all.enter("m", { always: true }));
  assertEquals(all.waiting, 6);
});

Deno.test("Place.leave() gives up a waiting place, and lets those behind it on", async () => {
  const { lanes: all, started } = lanes();
  const [a, c] = [job("a"), job("c")];
  const reserved = all.enter("k")!;
  const running = all.enter("k")!;
  const waiting = all.enter("k")!;
  running.fill(a);
  waiting.fill(c);
  assertEquals([...all.ready()].map(({ name }) => name), ["a", "c"]);
  assert(reserved.leave());
  assert(!reserved.leave());
  reserved.fill(job("never"));
  assertEquals(started, ["a"]);
  assert(!running.leave());
  assert(waiting.leave());
  a.done.resolve();
  await all.idle();
  assertEquals(started, ["a"]);
  assertEquals(all.size, 0);
});

Deno.test("Lanes leave nothing behind after many keys", async () => {
  const { lanes: all } = lanes({ maxLanes: 10_000 });
  for (let n = 0; n < 5_000; n++) {
    const done = job(`${n}`);
    all.enter(`k${n}`)!.fill(done);
    done.done.resolve();
  }
  await all.idle();
  assertEquals([all.size, all.running.size, all.waiting], [0, 0, 0]);
  await all.idle();
});

Deno.test("Lanes keep order and exclusion under random entering, filling, leaving and ending", async () => {
  const steps = fc.array(
    fc.tuple(fc.constantFrom("enter", "fill", "leave", "end"), fc.nat(1), fc.nat(9)),
    { maxLength: 60 },
  );
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      const { lanes: some, started } = lanes({ maxWaiting: 3 });
      const places: {
        key: string;
        name: string;
        place: Place<Job>;
        job: Job;
      }[] = [];
      const left = new Set<string>();
      for (const [what, key, at] of all) {
        const chosen = places[at % Math.max(1, places.length)];
        if (what === "enter") {
          const place = some.enter(`${key}`);
          const name = `${key}:${places.length}`;
          if (place) places.push({ key: `${key}`, name, place, job: job(name) });
        } else if (what === "fill") chosen?.place.fill(chosen.job);
        else if (what === "leave") {
          if (chosen?.place.leave()) left.add(chosen.name);
        } else chosen?.job.done.resolve();
        await settle();
        const keys = [...some.running].map(({ name }) => name[0]);
        assertEquals(new Set(keys).size, keys.length, "two jobs of a key at once");
      }
      for (const { place, job } of places) {
        place.fill(job);
        job.done.resolve();
      }
      await some.idle();
      for (const key of ["0", "1"]) {
        const wanted = places.filter((one) => one.key === key && !left.has(one.name));
        assertEquals(
          started.filter((name) => name[0] === key),
          wanted.map(({ name }) => name),
        );
      }
      assertEquals([some.size, some.waiting, some.running.size], [0, 0, 0]);
    }),
    { numRuns: rounds(50) },
  );
});

Deno.test("Lanes.enter() takes its share of the room until the place is given up or its job has run", async () => {
  const room = new Room(10);
  const { lanes: all } = lanes({ room });
  const [a, b] = [job("a"), job("b")];
  all.enter("k", { chars: 4 })!.fill(a);
  const second = all.enter("k", { chars: 4 })!;
  assertEquals(all.enter("l", { chars: 4 }), undefined);
  assertEquals([all.size, room.chars], [1, 8]);
  const beyond = all.enter("l", { chars: 4, always: true })!;
  beyond.fill(b);
  assertEquals(room.chars, 12);
  assert(second.leave());
  assertEquals([second.leave(), room.chars], [false, 8]);
  a.done.resolve();
  b.done.reject(new Error("a job that fails"));
  await settle();
  assertEquals([all.size, room.chars], [0, 0]);
});

Deno.test("Lanes.free() waits for a place in the lane, for a lane, and for room", async () => {
  const room = new Room(100);
  const all = new Lanes<Job>({ maxWaiting: 1, maxLanes: 2, room, run: ({ done }) => done.promise });
  const never = new AbortController().signal;
  const order: string[] = [];
  const wait = (key: string, chars = 0) =>
    all.free(key, chars, never).then(() => void order.push(`${key}${chars}`));
  await wait("k");
  const first = all.enter("k")!;
  const second = all.enter("k")!;
  const other = all.enter("l", { chars: 60 })!;
  const waits = [wait("k"), wait("m"), wait("l", 50)];
  await settle();
  assertEquals(order, ["k0"]);
  second.leave();
  await settle();
  assertEquals(order, ["k0", "k0"]);
  other.leave();
  await Promise.all(waits);
  assertEquals(order, ["k0", "k0", "m0", "l50"]);
  all.enter("k");
  const gone = new AbortController();
  const left = all.free("k", 0, gone.signal);
  gone.abort(new Error("gone"));
  await assertRejects(() => left, Error, "gone");
  first.leave();
});
