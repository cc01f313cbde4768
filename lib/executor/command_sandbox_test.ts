import { assert, assertEquals } from "@std/assert";
import { needs } from "../../tests/support/needs.ts";
import { commandSandbox } from "./command_sandbox.ts";
import { runSandbox } from "./testing/run_sandbox.ts";

Deno.test({
  ...needs(
    "commandSandbox() shows what programs read of /etc, and nobody changes it",
    "bubblewrap",
  ),
  async fn() {
    const workspace = await Deno.realPath(await Deno.makeTempDir());
    try {
      const { open, args } = await commandSandbox({ workspace, cwd: workspace, guards: [] });
      const script = `cat /etc/passwd; date +%z
        for path in /etc /etc/passwd /etc/localtime; do
          (chmod 777 $path; echo x >> $path; rm -f $path) 2> /dev/null
        done
        cat /etc/passwd; date +%z; ls /etc/shadow`;
      const { stdout } = await runSandbox({ open, args: [...args, "/bin/sh", "-c", script] });
      const zone = new TextDecoder().decode(
        (await new Deno.Command("date", { args: ["+%z"] }).output()).stdout,
      );
      const seen = await Deno.readTextFile("/etc/passwd") + zone;
      assertEquals(stdout, seen + seen);
    } finally {
      await Deno.remove(workspace, { recursive: true });
    }
  },
});

Deno.test({
  ...needs(
    "commandSandbox() mounts the system over no workspace, and lets nothing but it come later",
    "bubblewrap",
  ),
  async fn() {
    const places = async (workspace: string, mounts?: string[]) => {
      const { args } = await commandSandbox({ workspace, cwd: workspace, guards: [], mounts });
      return { system: args.indexOf("/usr"), own: args.indexOf(workspace) };
    };
    const usual = await places("/tmp/workspace");
    assert(usual.own < usual.system);
    for (const others of [await places("/usr/src/x"), await places("/tmp/x", ["--dir", "/x"])]) {
      assert(others.system < others.own);
    }
  },
});
