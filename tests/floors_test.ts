import { assertEquals } from "@std/assert";
import { readModules } from "./support/module_graph.ts";

const ROOT = new URL("../", import.meta.url).pathname;
const { imports: IMPORT_MAP } = JSON.parse(await Deno.readTextFile(`${ROOT}imports.json`));

/** Code of tests, which may reach into any folder. */
const TEST_CODE = /(_test\.ts$|\/testing\/|_fixture\.ts$)/;

/**
 * The folders of `lib`, lowest floor first. A folder imports folders of lower floors only, types
 * included; folders of one floor do not know each other. docs/architecture.md says what each is for.
 */
const FLOORS: readonly (readonly string[])[] = [
  ["base"],
  ["rpc"],
  ["contract"],
  ["packages", "secrets", "listen"],
  ["network", "config"],
  ["schedule", "channel", "model", "media"],
  ["journal", "place"],
  ["delivery", "registry", "policy"],
  ["state"],
  ["audit", "trusted_proxy"],
  ["executor"],
  ["tools", "documents", "transcription"],
  ["mcp_servers", "agent"],
  ["automation", "approvals"],
  ["gate"],
  ["settings"],
  ["operations"],
  ["authority"],
  ["local"],
  ["mcp"],
  ["http"],
  ["process"],
];

type Modules = Iterable<{ path: string; imports: readonly { resolved: string }[] }>;

/** `lib/agent/turn.ts` → `agent`; undefined outside of `lib`. */
function folderOf(path: string): string | undefined {
  return /^lib\/([^/]+)\/./.exec(path)?.[1];
}

/** Each import that does not go down, such as `lib/base/log.ts imports lib/agent/turn.ts`. */
function brokenArrows(modules: Modules): string[] {
  const floorOf = new Map(FLOORS.flatMap((folders, floor) => folders.map((name) => [name, floor])));
  const broken: string[] = [];
  for (const { path, imports } of modules) {
    const from = folderOf(path);
    if (from === undefined || TEST_CODE.test(path)) continue;
    for (const { resolved } of imports) {
      const to = folderOf(resolved);
      if (to === undefined || to === from) continue;
      if (!(floorOf.get(to)! < floorOf.get(from)!)) broken.push(`${path} imports ${resolved}`);
    }
  }
  return broken;
}

Deno.test("folders of lib import lower floors only", async () => {
  const modules = (await readModules(ROOT, IMPORT_MAP)).values();
  assertEquals(brokenArrows(modules), []);
});

Deno.test("each folder of lib stands on one floor", () => {
  const folders = [...Deno.readDirSync(`${ROOT}lib`)].map(({ name }) => name);
  assertEquals(FLOORS.flat().sort(), folders.sort());
});

Deno.test("an upward arrow, a sideways arrow, a circle and an unlisted folder are found", () => {
  const planted = (path: string, resolved: string) => ({ path, imports: [{ resolved }] });
  assertEquals(
    brokenArrows([
      planted("lib/base/log.ts", "lib/agent/turn.ts"),
      planted("lib/agent/turn.ts", "lib/base/log.ts"),
      planted("lib/model/port.ts", "lib/media/disk.ts"),
      planted("lib/agent/turn.ts", "lib/unlisted/file.ts"),
    ]),
    [
      "lib/base/log.ts imports lib/agent/turn.ts",
      "lib/model/port.ts imports lib/media/disk.ts",
      "lib/agent/turn.ts imports lib/unlisted/file.ts",
    ],
  );
});
