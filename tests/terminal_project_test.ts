import { assertEquals, assertStringIncludes } from "@std/assert";
import { makeHome, programArgs, type TestHome } from "./support/home.ts";
import { needs } from "./support/needs.ts";

/** What `service agent TEXT` shows at a terminal in a folder, with these keys once it asks. */
async function ask(home: TestHome, cwd: string, text: string, keys?: string): Promise<string> {
  const command = [Deno.execPath(), ...programArgs(), "agent", `'${text}'`].join(" ");
  const child = new Deno.Command("script", {
    args: ["--quiet", "--return", "--command", command, "/dev/null"],
    env: { SERVICE_HOME: `${home.dir}/home`, NO_COLOR: "1" },
    cwd,
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
    // So that words which do not come fail the test, and do not hang it.
    signal: AbortSignal.timeout(60_000),
  }).spawn();
  const writer = child.stdin.getWriter();
  let screen = "";
  let isAnswered = false;
  for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
    screen += chunk;
    if (isAnswered || keys === undefined || !screen.includes("[y/N]")) continue;
    isAnswered = true;
    await writer.write(new TextEncoder().encode(keys));
  }
  await writer.close().catch(() => {});
  await child.status;
  return screen.replaceAll("\r", "");
}

Deno.test({
  ...needs("agent asks once about a folder at a terminal, and works there from then on", "script"),
  async fn() {
    await using home = await makeHome();
    const site = `${await Deno.realPath(home.dir)}/site`;
    await Deno.mkdir(`${site}/.git`, { recursive: true });
    await Deno.mkdir(`${site}/src`);
    await Deno.writeTextFile(`${site}/a.txt`, "of the project");
    const read = '/tool read_file {"path":"a.txt"}';
    for (const keys of ["y\r", undefined]) {
      const screen = await ask(home, `${site}/src`, read, keys);
      assertEquals(screen.includes("Work in this folder?"), keys !== undefined, screen);
      assertStringIncludes(screen, "of the project");
      assertStringIncludes(screen, "Continue with: ");
    }

    const declined = `${await Deno.realPath(home.dir)}/other`;
    await Deno.mkdir(declined);
    await Deno.writeTextFile(`${declined}/a.txt`, "of the other");
    for (const keys of ["\r", undefined]) {
      const screen = await ask(home, declined, read, keys);
      assertEquals(screen.includes(`projects allow ${declined}`), keys !== undefined, screen);
      assertEquals(screen.includes("of the other"), false, screen);
    }
  },
});
