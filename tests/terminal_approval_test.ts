import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { needs } from "./support/needs.ts";
import { lockedFlags } from "../lib/packages/locked_packages.ts";

const ROOT = new URL("../", import.meta.url).pathname;

/** Types into `service agent` at a terminal: each text once its words are on the screen. */
async function type(home: string, script: [words: string, keys: string][]): Promise<string> {
  const service = [
    Deno.execPath(),
    "run",
    "-q",
    "--no-prompt",
    "--cached-only",
    ...lockedFlags(),
    "-P=service",
  ];
  const command = [...service, "cli/main.ts", "agent"].join(" ");
  const child = new Deno.Command("script", {
    args: ["--quiet", "--return", "--command", command, "/dev/null"],
    env: { SERVICE_HOME: home, NO_COLOR: "1" },
    cwd: ROOT,
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
    // So that words which do not come fail the test, and do not hang it.
    signal: AbortSignal.timeout(30_000),
  }).spawn();
  const writer = child.stdin.getWriter();
  let screen = "";
  let seen = 0;
  for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
    screen += chunk;
    for (let next; (next = script[0]) !== undefined; script.shift()) {
      const at = screen.indexOf(next[0], seen);
      if (at < 0) break;
      seen = at + next[0].length;
      await writer.write(new TextEncoder().encode(next[1]));
    }
  }
  await writer.close().catch(() => {});
  await child.status;
  assertEquals(script, [], screen);
  return screen;
}

Deno.test({
  ...needs(
    "a line that was typed ahead does not approve an action at the terminal",
    "Linux",
    "script",
  ),
  async fn() {
    const root = await Deno.realPath(await Deno.makeTempDir());
    try {
      const outside = `${root}/outside.txt`;
      const call = `/tool write_file ${JSON.stringify({ path: outside, content: "x" })}`;
      const screen = await type(`${root}/home`, [
        ["> ", `${call}\ra\r`],
        ["Typed before the question was there", ""],
        ["[a]pprove", "\x03"],
        ["approval is void", ""],
        ["> ", "\x04"],
      ]);
      assertStringIncludes(screen, `fs.write of ${outside}`);
      assert(!await Deno.stat(outside).then(() => true, () => false), screen);
    } finally {
      await Deno.remove(root, { recursive: true });
    }
  },
});
