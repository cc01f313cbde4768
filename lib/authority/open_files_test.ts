import { assertEquals } from "@std/assert";
import { needs } from "../../tests/support/needs.ts";
import { maxOpenFiles } from "./open_files.ts";

Deno.test({
  ...needs("maxOpenFiles() is what the process was started with", "Unix"),
  async fn() {
    const script = `import { maxOpenFiles } from ${
      JSON.stringify(new URL("./open_files.ts", import.meta.url).href)
    }; console.log(await maxOpenFiles());`;
    const { stdout } = await new Deno.Command("/bin/sh", {
      args: ["-c", 'ulimit -n 200; exec "$@"', "sh", Deno.execPath(), "eval", "-q", script],
      stderr: "inherit",
    }).output();
    assertEquals(new TextDecoder().decode(stdout).trim(), "200");
    assertEquals(Number.isSafeInteger(await maxOpenFiles() ?? 1), true);
  },
});
