/** How the tasks start the program: from anywhere, locked, and with what it lacks of packages. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { bareHome } from "./support/bare_home.ts";
import { makeHome, type TestHome } from "./support/home.ts";
import { needs } from "./support/needs.ts";

const ROOT = new URL("../", import.meta.url).pathname;
const { tasks } = JSON.parse(await Deno.readTextFile(`${ROOT}deno.json`)) as {
  tasks: Record<string, { command: string }>;
};

/** `deno task …` as a person types it in a folder. */
function task(
  home: TestHome,
  args: string[],
  { cwd, env }: { cwd: string; env?: Record<string, string> },
): Deno.Command {
  return new Deno.Command(Deno.execPath(), {
    args: ["task", "--quiet", ...args],
    cwd,
    clearEnv: true,
    env: {
      HOME: home.dir,
      SERVICE_HOME: `${home.dir}/home`,
      PATH: Deno.env.get("PATH") ?? "",
      DENO_DIR: Deno.env.get("DENO_DIR") ?? `${Deno.env.get("HOME")}/.cache/deno`,
      NO_COLOR: "1",
      ...env,
    },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  });
}

async function run(...given: Parameters<typeof task>) {
  const { code, stdout, stderr } = await task(...given).output();
  const decoder = new TextDecoder();
  return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
}

Deno.test("a start with the packages of the main job says nothing of packages, and needs no network", async () => {
  const { home, env } = await bareHome();
  await using _ = home;
  const { code, stdout, stderr } = await run(home, ["service", "agent", "-m", "hi"], {
    cwd: ROOT,
    env,
  });
  assertEquals({ code, stderr }, { code: 0, stderr: "" });
  assert(stdout.trim() !== "");
});

Deno.test("a start that lacks a package names it, and what to check, on standard error alone", async () => {
  const { home, env } = await bareHome(undefined, ["zod@4.6.7"]);
  await using _ = home;
  const { code, stdout, stderr } = await run(
    home,
    ["service", "sessions", "list", "--json"],
    { cwd: ROOT, env },
  );
  assertEquals({ code, stdout }, { code: 1, stdout: "" });
  assertEquals(
    stderr,
    "Fetching 1 package\nFetched packages: 0 of 1, 0 MiB\n" +
      "error: Cannot fetch zod@4.6.7: make sure that this machine reaches the package registry\n",
  );
});

Deno.test("SIGTERM to the task ends a fetch", async () => {
  const { home, env } = await bareHome(undefined, ["zod@4.6.7"]);
  await using _ = home;
  // Takes connections, and answers none.
  using registry = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const NPM_CONFIG_REGISTRY = `http://127.0.0.1:${registry.addr.port}/`;
  const started = task(home, ["service", "--version"], {
    cwd: ROOT,
    env: { DENO_DIR: env.DENO_DIR!, NPM_CONFIG_REGISTRY },
  }).spawn();
  using _connection = await Promise.race([
    registry.accept(),
    started.status.then(() => Promise.reject(new Error("it ended before it fetched anything"))),
  ]);
  started.kill("SIGTERM");
  const { code, stderr } = await started.output();
  assertEquals(code, 143);
  assert(new TextDecoder().decode(stderr).endsWith("Fetched packages: 0 of 1, 0 MiB\n"));
});

Deno.test("a task takes paths from where the person stands", async () => {
  await using home = await makeHome({}, ROOT);
  const elsewhere = `${home.dir}/a folder`;
  await Deno.mkdir(elsewhere);
  await Deno.writeTextFile(`${elsewhere}/x.txt`, "text");
  // The project itself may stand in such a folder, too.
  await Deno.symlink(ROOT, `${home.dir}/the project`);
  const ask = (file: string) => ["service", "agent", "--file", file, "-m", "read this"];
  for (const root of [ROOT, `${home.dir}/the project/`]) {
    const config = ["--config", `${root}deno.json`];
    const found = await run(home, [...config, ...ask("./x.txt")], { cwd: elsewhere });
    assertEquals(found.code, 0, found.stderr);
    const missing = await run(home, [...config, ...ask("./y.txt")], { cwd: elsewhere });
    assertEquals(missing.code, 1);
    assertStringIncludes(missing.stderr, 'There is no file "./y.txt"');
  }
  const inside = await run(home, ask("./architecture.md"), { cwd: `${ROOT}docs` });
  assertEquals(inside.code, 0, inside.stderr);
});

Deno.test("the tasks that start the program differ in what follows alone", () => {
  const { service, start, serve } = tasks;
  assertEquals(start!.command, `${service!.command} gateway`);
  assertEquals(serve!.command, `${service!.command} serve`);
});

Deno.test("every task runs with the lock, and fetches nothing else", () => {
  for (const [name, { command }] of Object.entries(tasks)) {
    const runs = command.split("&&").filter((part) => /\bdeno\b/.test(part));
    assert(runs.length > 0, name);
    for (const part of runs) {
      assert(/ --lock="?(\$ROOT\/)?deno\.lock"? /.test(part), `${name}: ${part}`);
      assert(part.includes(" --frozen "), `${name}: ${part}`);
      // tests/run.ts fetches what tests need by itself, and shows one line meanwhile.
      const fetches = /^ ?deno install |^deno run -q -A \S+ --frozen tests\/run\.ts/.test(part);
      assert(fetches || /^ ?deno run .*--cached-only /.test(part), `${name}: ${part}`);
    }
  }
});

Deno.test({
  ...needs("every process that imports packages is given the lock, in code, tests and docs", "git"),
  async fn() {
    const { stdout } = await new Deno.Command("git", {
      args: ["ls-files", "*.ts", "*.md"],
      cwd: ROOT,
    }).output();
    const unlocked: string[] = [];
    let seen = 0;
    for (const path of new TextDecoder().decode(stdout).trim().split("\n")) {
      if (path === "tests/first_start_test.ts" || path === "CHANGELOG.md") continue;
      const text = await Deno.readTextFile(`${ROOT}${path}`);
      for (const { index } of text.matchAll(/--cached-only|"info",\s+"--json"/g)) {
        seen++;
        const around = text.slice(Math.max(0, index - 200), index + 200);
        if (!/--lock=|--no-lock|lockedFlags|LOCKED|\.\.\.locked\b|project\.deno\(/.test(around)) {
          unlocked.push(`${path}: ${text.slice(index - 40, index + 60)}`);
        }
      }
    }
    assert(seen > 40, `${seen}`);
    assertEquals(unlocked, []);
  },
});
