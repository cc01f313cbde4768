import { assert, assertEquals } from "@std/assert";
import { findConfinement } from "./sandbox.ts";

const USER = 54_321;
const ROOT = new URL("../../../", import.meta.url).pathname;
const FIXTURE = new URL("testing/run_commands.ts", import.meta.url).pathname;

/** Runs a program as a user without rights; as this one where it has none. */
function asUser(argv: readonly string[]): string[] {
  if (Deno.uid() !== 0) return [...argv];
  return ["setpriv", `--reuid=${USER}`, `--regid=${USER}`, "--clear-groups", ...argv];
}

async function run(argv: readonly string[], env: Record<string, string> = {}): Promise<string> {
  const [path, ...args] = argv;
  const { success, stdout, stderr } = await new Deno.Command(path!, { args, env, cwd: ROOT })
    .output();
  assert(success, new TextDecoder().decode(stderr));
  return new TextDecoder().decode(stdout);
}

/** A sandbox, and a Deno that another user can start. */
async function canTry(): Promise<boolean> {
  if ((await findConfinement()).bwrap === undefined) return false;
  const said = await run(asUser([Deno.execPath(), "--version"])).catch(() => "");
  return said !== "";
}

Deno.test({
  name: "commands run, and are held to their number of processes, when the service is not root",
  ignore: !await canTry(),
  async fn() {
    const folder = await Deno.makeTempDir({ dir: "/tmp" });
    try {
      // In one file: that user may read neither the packages of this one nor, maybe, the clone.
      const program = `${folder}/program.js`;
      await run([Deno.execPath(), "bundle", "--quiet", "--output", program, FIXTURE]);
      await run(["chmod", "-R", "a+rX", folder]);
      if (Deno.uid() === 0) await run(["chown", `${USER}:${USER}`, folder]);
      const many = "i=0; while [ $i -lt 100 ]; do sleep 30 & i=$((i + 1)); done";
      const texts = [
        "echo made > made; cat made; id -u",
        `(${many}) 2> /dev/null; set -- /proc/[0-9]*; echo $#`,
      ];
      const denoDir = `${folder}/deno`;
      const output = await run(
        asUser([Deno.execPath(), "run", "--allow-all", "--no-config", program, folder, ...texts]),
        { DENO_DIR: denoDir, HOME: folder },
      );
      const { uid, report, ends } = JSON.parse(output);
      assert(uid !== 0);
      assert(report.ok, JSON.stringify(report));
      assertEquals(ends[0], { type: "exited", code: 0, signal: null, output: "made\n1000\n" });
      const count = Number(ends[1].output);
      assert(count > 2 && count < 50, JSON.stringify(ends[1]));
      const info = await Deno.stat(`${folder}/workspace/made`);
      assertEquals(info.uid, uid);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
});
