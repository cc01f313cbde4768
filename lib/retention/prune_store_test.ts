import { assertEquals, assertRejects } from "@std/assert";
import { type Limits, pruneStore } from "./prune_store.ts";
import { type MemoryStore, memoryStore } from "./testing/memory_store.ts";

const NO_LIMITS: Limits = { maxAgeMs: 0, maxBytes: 0 };

/** Times of what is removed, and of what was announced. */
async function prune(store: MemoryStore, limits: Partial<Limits>, dryRun = false) {
  const removed: number[] = [];
  const announced: number[] = [];
  await pruneStore(store, { ...NO_LIMITS, ...limits }, {
    now: 1_000,
    dryRun,
    announce: (items) => Promise.resolve(void announced.push(...items.map(({ at }) => at))),
    onRemoved: (items) => void removed.push(...items.map(({ at }) => at)),
  });
  return { removed, announced };
}

Deno.test("pruneStore() removes what is older than the limit, the oldest first, and says so before", async () => {
  const store = memoryStore([700, 100, 900, 500, 300, 600, 800, 200, 400]);
  const { removed, announced } = await prune(store, { maxAgeMs: 500 });
  assertEquals(removed, [100, 200, 300, 400]);
  assertEquals(announced, removed);
  assertEquals(store.items.map(({ at }) => at).sort(), [500, 600, 700, 800, 900]);
  assertEquals(store.splits, [50]);
});

Deno.test("pruneStore() removes the oldest until the rest is within the limit, and no more", async () => {
  for (
    const [maxBytes, left] of [[1_000, 6], [60, 6], [59, 5], [31, 3], [30, 3], [1, 0]] as const
  ) {
    const store = memoryStore([1, 2, 3, 4, 5, 6]);
    await prune(store, { maxBytes });
    assertEquals([maxBytes, store.items.length], [maxBytes, left]);
    assertEquals(store.splits, []);
  }
});

Deno.test("pruneStore() with both limits removes what is over either", async () => {
  const store = memoryStore([100, 200, 300, 400, 600, 700]);
  assertEquals((await prune(store, { maxAgeMs: 750, maxBytes: 30 })).removed, [100, 200, 300]);
  const old = memoryStore([100, 200, 300, 400, 600, 700]);
  assertEquals((await prune(old, { maxAgeMs: 450, maxBytes: 50 })).removed, [100, 200, 300, 400]);
});

Deno.test("pruneStore() passes over what is needed, and takes newer ones for their room", async () => {
  const store = memoryStore([1, 2, 3, 4, 5, 6]);
  store.needed = new Set(["at 1", "at 2", "at 3", "at 5"]);
  assertEquals((await prune(store, { maxBytes: 45 })).removed, [4, 6]);
  assertEquals(store.items.map(({ at }) => at), [1, 2, 3, 5]);
});

Deno.test("pruneStore() takes others where some came to be needed since they were listed", async () => {
  const times = Array.from({ length: 120 }, (_, index) => index + 1);
  const store = memoryStore(times);
  // The first fifty go together.
  store.onRemove = () => store.needed = new Set(["at 1", "at 2"]);
  const { removed } = await prune(store, { maxBytes: 600 });
  assertEquals(removed, times.slice(2, 62));
});

Deno.test("pruneStore() of a dry run finds exactly what a run removes, and changes nothing", async () => {
  for (const limits of [{ maxAgeMs: 500 }, { maxBytes: 40 }, { maxAgeMs: 800, maxBytes: 10 }]) {
    const store = memoryStore([100, 200, 300, 400, 500, 600, 700]);
    store.needed.add("at 200");
    const { removed: found, announced } = await prune(store, limits, true);
    assertEquals([store.items.length, announced, store.splits], [7, [], []]);
    assertEquals((await prune(store, limits)).removed, found);
  }
});

Deno.test("pruneStore() removes nothing that could not be announced", async () => {
  const store = memoryStore([1, 2, 3]);
  const removed: unknown[] = [];
  await assertRejects(
    () =>
      pruneStore(store, { maxAgeMs: 1, maxBytes: 0 }, {
        now: 1_000,
        dryRun: false,
        announce: () => Promise.reject(new Error("the disk is full")),
        onRemoved: (items) => void removed.push(...items),
      }),
    Error,
    "full",
  );
  assertEquals([store.items.length, removed], [3, []]);
});
