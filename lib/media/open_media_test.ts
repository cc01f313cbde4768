import { assert, assertEquals, assertRejects } from "@std/assert";
import fc from "fast-check";
import { ServiceError } from "../base/errors.ts";
import { openDisk } from "./disk.ts";
import { openMedia } from "./open_media.ts";
import { createMemoryDisk } from "./testing/memory_disk.ts";
import { rounds } from "../../tests/support/rounds.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
/** SHA-256 of "a", as `sha256sum` gives it. */
const HASH_OF_A = "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb";

interface SetUp {
  dir: string;
  /** Hashes that a session refers to. */
  referenced: Set<string>;
  /** Hashes that a session refers to which something needs. */
  needed: Set<string>;
  /** Another process's store in the same folder, after this one was killed. */
  open(): ReturnType<typeof openMedia>;
  names(): string[];
}

async function withMedia(run: (setUp: SetUp) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "media-test-" });
  const dir = `${folder}/media`;
  const referenced = new Set<string>();
  const needed = new Set<string>();
  try {
    await run({
      dir,
      referenced,
      needed,
      open: () =>
        openMedia({
          dir,
          isReferenced: (sha256) => referenced.has(sha256),
          isNeeded: (sha256) => needed.has(sha256),
        }),
      names: () => Array.from(Deno.readDirSync(dir), ({ name }) => name),
    });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("hold() keeps the bytes under their hash until they are let go", () =>
  withMedia(async ({ open, names }) => {
    const media = open();
    const { sha256, bytes: size, release } = await media.hold(bytes("a"));
    assertEquals([sha256, size], [HASH_OF_A, 1]);
    assertEquals(await media.read(sha256), bytes("a"));
    assertEquals(names(), [HASH_OF_A]);
    await release();
    assertEquals(names(), []);
    assertEquals(await media.read(sha256), undefined);
  }));

Deno.test("hold() of the same bytes twice, also at once, is one file, gone with the last", () =>
  withMedia(async ({ open, names }) => {
    const media = open();
    const [one, two] = await Promise.all([media.hold(bytes("a")), media.hold(bytes("a"))]);
    const three = await media.hold(bytes("a"));
    assertEquals(names(), [HASH_OF_A]);
    // Twice is once: it does not let go for another.
    await Promise.all([one.release(), one.release()]);
    await one.release();
    await two.release();
    assertEquals(names(), [HASH_OF_A]);
    await three.release();
    assertEquals(names(), []);
  }));

Deno.test("release() leaves a file that a session refers to, drop() takes it when none does", () =>
  withMedia(async ({ open, names, referenced }) => {
    const media = open();
    const { sha256, release } = await media.hold(bytes("a"));
    referenced.add(sha256);
    await release();
    await media.drop([sha256]);
    assertEquals(names(), [sha256]);
    referenced.clear();
    await media.drop([sha256, "b".repeat(64), sha256]);
    assertEquals(names(), []);
  }));

Deno.test("drop() and sweep() leave a file that is held", () =>
  withMedia(async ({ open, names }) => {
    const media = open();
    const { sha256, release } = await media.hold(bytes("a"));
    await media.drop([sha256]);
    assertEquals(await media.sweep(), 0);
    assertEquals(names(), [sha256]);
    await release();
  }));

Deno.test("sweep() removes what a killed process held or had not finished, and nothing else", () =>
  withMedia(async ({ dir, open, names, referenced }) => {
    assertEquals(await open().sweep(), 0);
    const killed = open();
    referenced.add((await killed.hold(bytes("accepted"))).sha256);
    await killed.hold(bytes("held"));
    await Deno.writeFile(`${dir}/${"0".repeat(64)}.x.part`, bytes("half"));
    await Deno.writeFile(`${dir}/README`, bytes("not ours"));
    const media = open();
    assertEquals(await media.sweep(), 2);
    assertEquals(names().sort(), [...referenced, "README"].sort());
    assertEquals(await media.read([...referenced][0]!), bytes("accepted"));
    assertEquals(await media.sweep(), 0);
  }));

Deno.test("read() gives nothing that is not the file, and hold() mends it", () =>
  withMedia(async ({ dir, open, names }) => {
    const media = open();
    const held = await media.hold(bytes("a"));
    for (const damage of ["b", "", "aa"]) {
      await Deno.writeFile(`${dir}/${held.sha256}`, bytes(damage));
      assertEquals(await media.read(held.sha256), undefined);
      const again = await open().hold(bytes("a"));
      assertEquals(await media.read(again.sha256), bytes("a"));
    }
    assertEquals(names(), [held.sha256]);
    await held.release();
  }));

Deno.test("read() and drop() take no name that is not a hash", () =>
  withMedia(async ({ dir, open, names }) => {
    const media = open();
    await (await media.hold(bytes("a"))).release();
    await Deno.writeFile(`${dir}/../outside`, bytes("outside"));
    await Deno.writeFile(`${dir}/inside`, bytes("inside"));
    for (const name of ["../outside", "inside", "", ".", HASH_OF_A.toUpperCase()]) {
      assertEquals(await media.read(name), undefined);
      await media.drop([name]);
    }
    assertEquals(names(), ["inside"]);
    assertEquals(await Deno.readFile(`${dir}/../outside`), bytes("outside"));
  }));

Deno.test("hold() takes a view of a larger buffer, and nothing at all", () =>
  withMedia(async ({ open }) => {
    const media = open();
    const view = await media.hold(bytes("xax").subarray(1, 2));
    assertEquals(view.sha256, HASH_OF_A);
    assertEquals(await media.read(HASH_OF_A), bytes("a"));
    const empty = await media.hold(new Uint8Array());
    assertEquals(await media.read(empty.sha256), new Uint8Array());
    await Promise.all([view.release(), empty.release()]);
  }));

Deno.test("hold() that fails holds nothing, and the next one may work", async () => {
  let full = true;
  const disk = createMemoryDisk((step) =>
    full && step === "write"
      ? Promise.reject(new ServiceError("internal", "Cannot write: no space left"))
      : Promise.resolve()
  );
  const media = openMedia({ dir: "none", isReferenced: () => false, isNeeded: () => false, disk });
  const [first, second] = [media.hold(bytes("a")), media.hold(bytes("a"))];
  // Both at once: one that is rejected while nobody looks would end the process.
  await Promise.all(
    [first, second].map((hold) => assertRejects(() => hold, ServiceError, "no space left")),
  );
  assertEquals(disk.files.size, 0);
  full = false;
  const { release } = await media.hold(bytes("a"));
  assertEquals([...disk.files.keys()], [HASH_OF_A]);
  await release();
  assertEquals(disk.files.size, 0);
});

Deno.test("drop() goes on after a file that cannot be removed, and tells of it", async () => {
  let refuse = false;
  const disk = createMemoryDisk((step) => {
    if (!refuse || step !== "remove") return Promise.resolve();
    refuse = false;
    return Promise.reject(new ServiceError("internal", "Cannot remove: denied"));
  });
  const referenced = new Set<string>();
  const media = openMedia({
    dir: "none",
    isReferenced: (sha256) => referenced.has(sha256),
    isNeeded: () => false,
    disk,
  });
  for (const text of ["a", "b", "c"]) {
    const { sha256, release } = await media.hold(bytes(text));
    referenced.add(sha256);
    await release();
  }
  const all = [...referenced];
  referenced.clear();
  refuse = true;
  await assertRejects(() => media.drop(all), ServiceError, "denied");
  assertEquals([...disk.files.keys()], all.slice(0, 1));
  assertEquals(await media.sweep(), 1);
});

Deno.test("release() keeps the file when nobody can say whether it is referred to", async () => {
  const disk = createMemoryDisk();
  const media = openMedia({
    dir: "none",
    isReferenced: () => {
      throw new Error("the journal is closed");
    },
    isNeeded: () => false,
    disk,
  });
  const { release } = await media.hold(bytes("a"));
  await assertRejects(release, Error, "closed");
  assertEquals(disk.files.size, 1);
});

Deno.test("openDisk() is what openMedia() uses by default", () =>
  withMedia(async ({ dir, open }) => {
    const { release } = await open().hold(bytes("a"));
    assertEquals(await openDisk(dir).read(HASH_OF_A), bytes("a"));
    await release();
  }));

Deno.test("retention takes files of sessions that are unused the longest, and none that is held, needed or was used since", () =>
  withMedia(async ({ dir, open, names, referenced, needed }) => {
    const media = open();
    const keep = async (text: string, usedAt: number) => {
      const { sha256, release } = await media.hold(bytes(text));
      referenced.add(sha256);
      await release();
      await Deno.utime(`${dir}/${sha256}`, new Date(usedAt), new Date(usedAt));
      return sha256;
    };
    const newer = await keep("newer", 2_000_000);
    const old = await keep("old", 1_000_000);
    const held = await keep("held", 3_000_000);
    const needs = await keep("needed", 4_000_000);
    needed.add(needs);
    assertEquals(await media.retention.usedBytes(), 5 + 3 + 4 + 6);
    const { items, after } = await media.retention.page();
    assertEquals([items, after], [
      [
        { name: old, bytes: 3, at: 1_000_000 },
        { name: newer, bytes: 5, at: 2_000_000 },
        { name: held, bytes: 4, at: 3_000_000 },
      ],
      undefined,
    ]);
    const { release } = await media.hold(bytes("held"));
    // It came again with another message.
    await (await media.hold(bytes("newer"))).release();
    const listed = [...items, { name: needs, bytes: 6, at: 4_000_000 }];
    assertEquals(await media.retention.remove(listed), [items[0]]);
    assertEquals(names().sort(), [newer, held, needs].sort());
    assertEquals(await media.read(old), undefined);
    await release();
  }));

/** What somebody does with the file of a content, beside all others. */
type Actor =
  | { does: "accept"; content: number; accepted: boolean }
  | { does: "delete"; content: number }
  | { does: "sweep" };

const anyActor: fc.Arbitrary<Actor> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      does: fc.constant("accept" as const),
      content: fc.nat(1),
      accepted: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ does: fc.constant("delete" as const), content: fc.nat(1) }),
  },
  fc.constant({ does: "sweep" as const }),
);

Deno.test("openMedia() never loses a wanted file and never leaves another, in any order of steps", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      fc.array(anyActor, { minLength: 2, maxLength: 7 }),
      async (scheduler, actors) => {
        const contents = [bytes("a"), bytes("b")];
        const hashes = [HASH_OF_A, "b".repeat(64)];
        const referenced = new Set<string>();
        const held = new Map<string, number>();
        const disk = createMemoryDisk(async (step) => {
          assertWanted();
          await scheduler.schedule(Promise.resolve(), step);
        });
        const assertWanted = () => {
          for (const sha256 of [...referenced, ...held.keys()]) {
            if (!referenced.has(sha256) && held.get(sha256) === 0) continue;
            assert(disk.files.has(sha256), `${sha256} is gone`);
          }
        };
        const media = openMedia({
          dir: "none",
          isReferenced: (sha256) => referenced.has(sha256),
          isNeeded: () => false,
          disk,
          // At once, so that the scheduler alone says what comes when.
          hash: (content) =>
            Promise.resolve(hashes[contents.findIndex((c) => c[0] === content[0])]!),
        });

        async function act(actor: Actor): Promise<void> {
          await scheduler.schedule(Promise.resolve(), actor.does);
          switch (actor.does) {
            case "accept": {
              const { sha256, release } = await media.hold(contents[actor.content]!);
              held.set(sha256, (held.get(sha256) ?? 0) + 1);
              assertWanted();
              // The journal takes its time.
              await scheduler.schedule(Promise.resolve(), "commit");
              assertEquals(await media.read(sha256), contents[actor.content]);
              if (actor.accepted) referenced.add(sha256);
              held.set(sha256, held.get(sha256)! - 1);
              await release();
              break;
            }
            case "delete": {
              const sha256 = hashes[actor.content]!;
              if (referenced.delete(sha256)) await media.drop([sha256]);
              break;
            }
            case "sweep":
              await media.sweep();
              break;
          }
        }
        await scheduler.waitFor(Promise.all(actors.map(act)));
        assertEquals([...disk.files.keys()].sort(), [...referenced].sort());
      },
    ),
    { numRuns: rounds(500) },
  );
});
