import { assert, assertEquals } from "@std/assert";
import { acquireHome } from "./home_lock.ts";

Deno.test("acquireHome() lets one process in, names it, and is free after kill -9", async () => {
  const dir = await Deno.makeTempDir();
  const paths = { runDir: `${dir}/run`, lockFile: `${dir}/run/lock` };
  const module = new URL("./home_lock.ts", import.meta.url).href;
  const code = `import { acquireHome } from ${JSON.stringify(module)};
    await acquireHome(${JSON.stringify(paths)});
    console.log("held"); setInterval(() => {}, 1000);`;
  const child = new Deno.Command(Deno.execPath(), {
    args: ["eval", "--no-config", code],
    stdout: "piped",
  }).spawn();
  const reader = child.stdout.getReader();
  await reader.read();
  assertEquals(await acquireHome(paths), { heldBy: child.pid });
  child.kill("SIGKILL");
  await child.status;
  await reader.cancel();
  const lock = await acquireHome(paths);
  assert("release" in lock);
  assertEquals(await Deno.readTextFile(paths.lockFile), `${Deno.pid}\n`);
  assertEquals((await Deno.stat(paths.runDir)).mode! & 0o777, 0o700);
  lock.release();
  const again = await acquireHome(paths);
  assert("release" in again);
  again.release();
  await Deno.remove(dir, { recursive: true });
});
