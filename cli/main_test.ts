import { assert, assertEquals, assertNotEquals, assertStringIncludes } from "@std/assert";
import { VERSION } from "./version.ts";
import { lockedFlags } from "../lib/packages/locked_packages.ts";

const ROOT = new URL("../", import.meta.url);
const MAIN = new URL("cli/main.ts", ROOT).pathname;

interface GraphModule {
  specifier: string;
  dependencies?: { code?: { specifier?: string }; isDynamic?: boolean }[];
}

/** What importing these files loads, lazy imports left out, relative to the root of the sources. */
async function loadedBy(...files: string[]): Promise<Set<string>> {
  const loaded = new Set<string>();
  for (const file of files) {
    const url = new URL(file, ROOT).href;
    const { stdout, stderr, success } = await new Deno.Command(Deno.execPath(), {
      args: ["info", "--json", ...lockedFlags(), url],
      cwd: ROOT,
    }).output();
    if (!success) throw new Error(new TextDecoder().decode(stderr));
    const { modules, redirects } = JSON.parse(new TextDecoder().decode(stdout)) as {
      modules: GraphModule[];
      redirects: Record<string, string>;
    };
    const graph = new Map(modules.map((module) => [module.specifier, module]));
    const queue = [url];
    for (let specifier = queue.pop(); specifier !== undefined; specifier = queue.pop()) {
      const name = specifier.replace(ROOT.href, "");
      if (loaded.has(name)) continue;
      loaded.add(name);
      for (const { code, isDynamic } of graph.get(specifier)?.dependencies ?? []) {
        const next = code?.specifier;
        if (next !== undefined && !isDynamic) queue.push(redirects[next] ?? next);
      }
    }
  }
  return loaded;
}

async function runMain(
  args: string[],
): Promise<{ code: number; stdout: string; stderr: string }> {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--quiet",
      "--cached-only",
      ...lockedFlags(),
      "--allow-env=NO_COLOR,SERVICE_COMMAND",
      MAIN,
      ...args,
    ],
    stdin: "null",
  }).output();
  const decoder = new TextDecoder();
  return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
}

Deno.test("W14 main.ts loads nothing for --version but its own tables", async () => {
  const loaded = await loadedBy("cli/main.ts");
  assertEquals([...loaded].toSorted(), [
    "cli/command.ts",
    "cli/commands.ts",
    "cli/dispatch.ts",
    "cli/main.ts",
    "cli/outcome.ts",
    "cli/output.ts",
    "cli/parse.ts",
    "cli/report_error.ts",
    "cli/version.ts",
    "lib/base/entries.ts",
    "lib/base/errors.ts",
    "lib/base/layout.ts",
    "lib/base/nearest.ts",
    "lib/executor/command.ts",
  ]);
});

Deno.test("W14 service agent loads neither channels nor the web part", async () => {
  const loaded = await loadedBy(
    "cli/main.ts",
    "cli/commands/agent.ts",
    "cli/open_service.ts",
    "lib/process/own_home.ts",
    "lib/process/owned_home.ts",
    "lib/process/service/worker.ts",
    "lib/process/service/service.ts",
  );
  const heavy = [...loaded].filter((name) =>
    /^(channels|webui|lib\/(http|channel|channel_worker|delivery(?!\/outbox))|cli\/(doctor|completions))\//
      .test(
        name,
      ) ||
    /^npm:\/(hono|@hono|ws|jose|openai|unpdf|mammoth|@e965|fflate|saxes)\b/.test(name)
  );
  assertEquals(heavy, []);
  assertNotEquals(loaded.size, 0);
});

Deno.test("a home starts its gateway before it loads what the authority is made of", async () => {
  const loaded = await loadedBy("lib/process/own_home.ts");
  const later =
    /^lib\/(approvals|audit|authority\/authority|documents|gate|mcp_servers|operations)\b/;
  assertEquals([...loaded].filter((name) => later.test(name)), []);
  assert(loaded.has("lib/authority/gateway_worker.ts"));
});

Deno.test("main() prints the version with no permission but NO_COLOR", async () => {
  assertEquals(await runMain(["--version"]), {
    code: 0,
    stdout: `service ${VERSION}\n`,
    stderr: "",
  });
});

Deno.test("main() exits with 2 for a line that it cannot read", async () => {
  const { code, stdout, stderr } = await runMain(["sesions", "--json"]);
  assertEquals([code, stdout], [2, ""]);
  assertStringIncludes(JSON.parse(stderr).error.message, "did you mean sessions?");
});

Deno.test("main() ends quietly when the reader of its output is gone", async () => {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "--cached-only", ...lockedFlags(), "-A", MAIN, "--help"],
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  await child.stdout.cancel();
  const stderr = await new Response(child.stderr).text();
  assertEquals([(await child.status).code, stderr], [0, ""]);
});
