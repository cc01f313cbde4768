import { assertEquals } from "@std/assert";
import { needs } from "../../tests/support/needs.ts";
import { resolvePaths } from "../config/paths.ts";
import { ownHome } from "../process/own_home.ts";

/** A service in a home that everybody may enter; `test` gets the folder around it. */
async function inOpenHome(
  workspace: string,
  test: (dir: string, workspace: string) => Promise<void> | void,
): Promise<void> {
  const dir = await Deno.realPath(await Deno.makeTempDir());
  try {
    await Deno.chmod(dir, 0o755);
    const home = `${dir}/home`;
    await Deno.mkdir(home);
    await Deno.chmod(home, 0o755);
    const path = `${dir}/${workspace}`;
    const config = JSON.stringify({ agent: { workspace: path } });
    await Deno.writeTextFile(`${home}/config.json`, config, { mode: 0o600 });
    // The Worker below makes no journal.
    await Deno.mkdir(`${home}/data`, { mode: 0o700 });
    await Deno.writeTextFile(`${home}/data/service.db`, "stands for a journal");
    for (const isThere of [false, true]) {
      if (isThere) await Deno.chmod(path, 0o755);
      const env = (name: string) => name === "SERVICE_HOME" ? home : undefined;
      const owned = await ownHome({
        paths: resolvePaths({ env, homeDir: dir }),
        version: "0",
        env,
        lastGood: false,
        logLevel: "error",
        entry: new URL("./testing/telling_worker.ts", import.meta.url),
      });
      if ("leave" in owned) await owned.leave({ graceMs: 0 });
      await test(dir, path);
    }
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
}

Deno.test(
  needs("nobody else reads a workspace in a home of mode 0755", "root"),
  () =>
    inOpenHome("home/workspace", async (_dir, workspace) => {
      const file = `${workspace}/notes`;
      await Deno.writeTextFile(file, "private");
      await Deno.chmod(file, 0o644);
      const { stdout } = await new Deno.Command("/bin/cat", {
        args: [file],
        uid: 65_534,
        gid: 65_534,
        stderr: "null",
      }).output();
      assertEquals(new TextDecoder().decode(stdout), "");
    }),
);

Deno.test(
  needs("a workspace is closed to others in the home, and only made so elsewhere", "Unix"),
  async () => {
    const mode = async (path: string) => (await Deno.stat(path)).mode! & 0o777;
    const modes: number[] = [];
    await inOpenHome("home/sub/workspace", async (_, path) => void modes.push(await mode(path)));
    await inOpenHome("elsewhere", async (_, path) => void modes.push(await mode(path)));
    assertEquals(modes, [0o700, 0o700, 0o700, 0o755]);
  },
);
