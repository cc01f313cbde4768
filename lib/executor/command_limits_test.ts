import { assert, assertEquals } from "@std/assert";
import { fromFileUrl, toFileUrl } from "@std/path";
import { MAIN_JOB_PACKAGES } from "../../tests/support/bare_home.ts";
import { denoDirectory } from "../../tests/support/deno_directory.ts";
import { needs } from "../../tests/support/needs.ts";
import { until } from "../../tests/support/process_facts.ts";
import { copyProject } from "../../tests/support/project_copy.ts";
import { lockedFlags, projectFiles } from "../packages/locked_packages.ts";
import { ROOT } from "../base/layout.ts";
import { findControlGroups } from "./command_limits.ts";
import { FULL_RUN } from "../../tests/support/rounds.ts";

const USER = 54_321;
const FIXTURE = "lib/executor/testing/run_commands.ts";

Deno.test({
  ...needs(
    "commands run, and are held to their number of processes, when the service is not root",
    "bubblewrap",
    FULL_RUN,
  ),
  async fn() {
    // That user may read neither the clone nor the packages of this one, nor maybe its Deno.
    await using project = await copyProject();
    const folder = `${project.root}test`;
    const [deno, denoDir] = [`${folder}/program`, `${folder}/deno`];
    await Deno.mkdir(folder);
    await denoDirectory(denoDir, MAIN_JOB_PACKAGES);
    await Deno.copyFile(Deno.execPath(), deno);
    await Deno.chmod(project.root, 0o755);
    const isRoot = Deno.uid() === 0;
    if (isRoot) await Promise.all([folder, denoDir].map((path) => Deno.chown(path, USER, USER)));
    const many = "i=0; while [ $i -lt 100 ]; do sleep 30 & i=$((i + 1)); done";
    const texts = [
      "echo made > made; cat made; id -u",
      `(${many}) 2> /dev/null; set -- /proc/[0-9]*; echo $#`,
    ];
    const { success, stdout, stderr } = await new Deno.Command(deno, {
      args: [
        ...["run", "-A", "--cached-only", "--no-check"],
        ...lockedFlags(projectFiles(toFileUrl(project.root))),
        ...[project.root + FIXTURE, folder, ...texts],
      ],
      cwd: folder,
      env: { DENO_DIR: denoDir, HOME: folder, NO_COLOR: "1" },
      ...isRoot && { uid: USER, gid: USER },
    }).output();
    assert(success, new TextDecoder().decode(stderr));
    const { uid, report, ends } = JSON.parse(new TextDecoder().decode(stdout));
    assert(uid !== 0);
    assert(report.ok, JSON.stringify(report));
    assertEquals(ends[0], { type: "exited", code: 0, signal: null, output: "made\n1000\n" });
    const count = Number(ends[1].output);
    assert(count > 2 && count < 50, JSON.stringify(ends[1]));
    const info = await Deno.stat(`${folder}/workspace/made`);
    assertEquals(info.uid, uid);
  },
});

/** Folders of control groups of a process. */
async function groupsOf(pid: number): Promise<string[]> {
  const { stdout } = await new Deno.Command("find", {
    args: ["/sys/fs/cgroup", "-type", "d", "-name", `service-${pid}-*`],
    stderr: "null",
  }).output();
  return new TextDecoder().decode(stdout).split("\n").filter((path) => path !== "");
}

Deno.test({
  ...needs(
    "the control groups of a service that was killed are gone once another one has tried its own",
    "bubblewrap",
    "root",
    {
      what: "control groups",
      isThere: Deno.uid() === 0 && await findControlGroups() !== undefined,
    },
  ),
  async fn() {
    const folder = await Deno.makeTempDir();
    const killed = new Deno.Command(Deno.execPath(), {
      args: [
        ...["run", "-A", "--cached-only", "--no-check", ...lockedFlags(projectFiles(ROOT))],
        ...[fromFileUrl(new URL("./testing/run_commands.ts", import.meta.url)), folder],
        "echo begun > begun; sleep 60",
      ],
      stdout: "null",
    }).spawn();
    try {
      await until(() => Deno.lstat(`${folder}/workspace/begun`).then(() => true, () => false));
      assert((await groupsOf(killed.pid)).length > 0);
    } finally {
      killed.kill("SIGKILL");
      await killed.status;
    }
    assert((await groupsOf(killed.pid)).length > 0, "it has removed them itself");
    await findControlGroups();
    assertEquals(await groupsOf(killed.pid), []);
    await Deno.remove(folder, { recursive: true });
  },
});
