import { assertEquals } from "@std/assert";
import { type GuardWatch, watchGuards } from "./guard_watch.ts";

async function watched(test: (folder: string, watch: GuardWatch) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${folder}/.env`, "old");
    await Deno.mkdir(`${folder}/.git`);
    await Deno.writeTextFile(`${folder}/.git/config`, "old");
    using watch = await watchGuards([
      { path: `${folder}/.env`, how: "hideFile" },
      { path: `${folder}/.git`, how: "pin" },
      { path: `${folder}/.git/config`, how: "readOnly" },
    ], { everyMs: 1 });
    await test(folder, watch);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("watchGuards() finds a file that was put in the place of a guarded one", async () => {
  await watched(async (folder, watch) => {
    const found = Promise.withResolvers<void>();
    watch.signal.addEventListener("abort", () => found.resolve());
    await Deno.writeTextFile(`${folder}/new`, "new");
    await Deno.rename(`${folder}/new`, `${folder}/.git/config`);
    await found.promise;
    assertEquals(await watch.finish(), `${folder}/.git/config`);
  });
});

Deno.test("watchGuards() finds a file that was removed and made again, with the same number or not", async () => {
  await watched(async (folder, watch) => {
    await Deno.remove(`${folder}/.env`);
    // Its time of birth counts in milliseconds.
    const { birthtime } = await Deno.lstat(`${folder}/.git/config`);
    while (Date.now() <= birthtime!.getTime() + 1);
    await Deno.writeTextFile(`${folder}/.env`, "new");
    assertEquals(await watch.finish(), `${folder}/.env`);
  });
});

Deno.test("watchGuards() finds nothing in files that were written to, had company, or went away", async () => {
  await watched(async (folder, watch) => {
    await Deno.writeTextFile(`${folder}/.env`, "longer than it was");
    await Deno.chmod(`${folder}/.git/config`, 0o600);
    await Deno.writeTextFile(`${folder}/.git/HEAD`, "ref");
    assertEquals(await watch.finish(), undefined);
    await Deno.remove(`${folder}/.env`);
    assertEquals(await watch.finish(), undefined);
    assertEquals(watch.signal.aborted, false);
  });
});
