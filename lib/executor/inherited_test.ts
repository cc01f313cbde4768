import { assert, assertEquals } from "@std/assert";
import { fromFileUrl } from "@std/path";
import { needs, programPath } from "../../tests/support/needs.ts";
import { lockedFlags } from "../packages/locked_packages.ts";

const RUN = fromFileUrl(new URL("./testing/run_commands.ts", import.meta.url));

/** Runs commands in a process that was started with files open, as a careless starter leaves them. */
async function runWith(open: string, texts: readonly string[]) {
  const folder = await Deno.realPath(await Deno.makeTempDir());
  try {
    await Deno.writeTextFile(`${folder}/secret`, "left open");
    const { stdout, stderr, success } = await new Deno.Command(programPath("bash"), {
      args: [
        "-c",
        `exec ${open.replaceAll("FILE", `'${folder}/secret'`)}; exec "$@"`,
        "bash",
        Deno.execPath(),
        "run",
        "-A",
        "--quiet",
        "--cached-only",
        ...lockedFlags(),
        "--no-check",
        RUN,
        folder,
        ...texts,
      ],
      stdout: "piped",
      stderr: "piped",
    }).output();
    assert(success, new TextDecoder().decode(stderr));
    return JSON.parse(new TextDecoder().decode(stdout));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

for (const open of ["7<FILE", "7<FILE 77<FILE 200>>FILE"]) {
  Deno.test({
    ...needs(
      `closeInherited() keeps from a command what its service was started with: ${open}`,
      "bubblewrap",
      "bash",
    ),
    async fn() {
      const list = 'for fd in /proc/self/fd/*; do [ -e "$fd" ] && echo "${fd##*/}"; done';
      const { report, ends } = await runWith(open, ["cat <&7", list]);
      assert(report.ok, report.reason);
      assert(!ends[0].output.includes("left open"), ends[0].output);
      assertEquals(ends[1].output, "0\n1\n2\n");
    },
  });
}
