import { assertEquals } from "@std/assert";
import { readModules } from "./support/module_graph.ts";

const ROOT = new URL("../", import.meta.url);
const { imports: IMPORT_MAP } = JSON.parse(await Deno.readTextFile(new URL("imports.json", ROOT)));

/** What `service agent -m hi` and `service gateway` import one after the other, in both threads. */
const STARTS = [
  "cli/main.ts",
  "cli/commands/agent.ts",
  "cli/commands/gateway.ts",
  "cli/agent/open_folder.ts",
  "cli/open_service.ts",
  "lib/authority/projects.ts",
  "lib/authority/run_gateway.ts",
  "lib/process/own_home.ts",
  "lib/process/begin_home.ts",
  "lib/process/owned_home.ts",
  "lib/registry/open_registry.ts",
  "lib/operations/channels/home_channels.ts",
  "lib/process/service/worker.ts",
  "lib/process/service/service.ts",
];

/** Of Node's modules, those that load little of the others. */
const CHEAP = new Set(["node:sqlite", "node:timers"]);

Deno.test("a start, and that of a child for files, imports nothing of Node but SQLite and timers", async () => {
  const modules = await readModules(ROOT.pathname, IMPORT_MAP);
  const loaded = new Set([...STARTS, "lib/tools/child/file_tools.ts"]);
  const found: string[] = [];
  for (const path of loaded) {
    for (const { resolved, typeOnly, isDynamic } of modules.get(path)!.imports) {
      if (typeOnly || isDynamic) continue;
      if (resolved.startsWith("node:") && !CHEAP.has(resolved)) {
        found.push(`${path} imports ${resolved}`);
      }
      if (modules.has(resolved)) loaded.add(resolved);
    }
  }
  assertEquals(found, []);
});

Deno.test("a start asks for no global of Node, its packages included", async () => {
  // Deno loads node:process for whoever reads one; its own modules read them once they are loaded.
  const trap = (name: string) => () => {
    const at = new Error().stack!.split("\n")[2]!;
    // deno-lint-ignore no-console -- the program below has nothing else to say
    if (!/\((ext|node):/.test(at)) console.log(`${name}${at}`);
  };
  const traps = ["process", "Buffer", "global"].map((name) =>
    `Object.defineProperty(globalThis, "${name}", { get: (${trap})("${name}") });`
  );
  // The gateway's entry is to find itself in a thread of its own; it imports the service.
  const imports = STARTS.filter((path) => path !== "lib/process/service/worker.ts")
    .map((path) => `await import("${new URL(path, ROOT)}");`);
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: [
      "eval",
      "--cached-only",
      "--lock=deno.lock",
      "--frozen",
      [...traps, ...imports].join("\n"),
    ],
    cwd: ROOT.pathname,
    stderr: "inherit",
  }).output();
  assertEquals(new TextDecoder().decode(stdout), "");
});
