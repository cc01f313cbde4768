import { assert, assertEquals, assertStrictEquals } from "@std/assert";
import { needs } from "../../tests/support/needs.ts";
import { createExecutor } from "./executor.ts";
import { TriedSandboxes } from "./tried_sandboxes.ts";

const silent = () => {};
const log = { debug: silent, info: silent, warning: silent, error: silent };

Deno.test({
  ...needs("TriedSandboxes.of() tries a sandbox once for all executors", "bubblewrap"),
  async fn() {
    const folder = await Deno.makeTempDir();
    const sandboxes = new TriedSandboxes({ folder });
    const tried = await sandboxes.of(undefined);
    assert(!("problem" in tried), JSON.stringify(tried));
    const { mtime } = await Deno.stat(tried.filter);
    const executors = [1, 2].map(() => createExecutor({ cacheDir: folder, sandboxes, log }));
    for (const executor of executors) assert((await executor.confinement()).confined);
    assertStrictEquals(await sandboxes.of(undefined), tried);
    assertEquals((await Deno.stat(tried.filter)).mtime, mtime);
    await Promise.all(executors.map((executor) => executor.shutdown()));
    await Deno.remove(folder, { recursive: true });
  },
});

Deno.test("TriedSandboxes.of() says why there is none", async () => {
  const sandboxes = new TriedSandboxes({ folder: "/nonexistent", sandbox: "off" });
  assertEquals(await sandboxes.of("root"), { problem: "the sandbox is switched off" });
});
