import { assertEquals } from "@std/assert";
import { killTree, spawnTree } from "./process_tree.ts";
import { needs } from "../../tests/support/needs.ts";

const IO = { stdin: "null", stdout: "piped", stderr: "null" } as const;

Deno.test({
  ...needs("spawnTree() starts a leader of a session and a group of its own", "sh"),
  ignore: Deno.build.os !== "linux",
  async fn() {
    const script = "read -r pid _ _ _ group session _ < /proc/self/stat; echo $pid $group $session";
    const child = spawnTree(["/bin/sh", "-c", script], IO);
    const { code, stdout } = await child.output();
    const said = new TextDecoder().decode(stdout).trim().split(" ").map(Number);
    assertEquals([code, said], [0, [child.pid, child.pid, child.pid]]);
  },
});

Deno.test({
  ...needs(
    "killTree() kills what a child has started too, and one that leads no group yet",
    "sleep",
  ),
  ignore: Deno.build.os === "windows",
  async fn() {
    const child = spawnTree(["/bin/sh", "-c", "sleep 1000 & echo begun; wait"], IO);
    const reader = child.stdout.getReader();
    await reader.read();
    killTree(child);
    // The other one holds the pipe open, too.
    assertEquals((await reader.read()).done, true);
    assertEquals((await child.status).signal, "SIGKILL");
    for (let round = 0; round < 20; round++) {
      const young = spawnTree(["/bin/sh", "-c", "sleep 1000"], { ...IO, stdout: "null" });
      killTree(young);
      assertEquals((await young.status).signal, "SIGKILL");
      killTree(young);
    }
  },
});
