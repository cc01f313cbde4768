import { assertEquals } from "@std/assert";
import { readModules } from "./support/module_graph.ts";

const ROOT = new URL("../", import.meta.url).pathname;
const { imports: IMPORT_MAP } = JSON.parse(await Deno.readTextFile(`${ROOT}imports.json`));
const { exports: EXPORTS } = JSON.parse(await Deno.readTextFile(`${ROOT}deno.json`));

/** Code of tests, which may reach into any folder. */
const TEST_CODE = /(^(tests|bench|proof)\/|_test\.ts$|\/testing\/|_fixture\.ts$)/;

/**
 * The folders of `lib`, lowest floor first. A folder imports folders of lower floors only, types
 * included; folders of one floor do not know each other. docs/architecture.md says what each is for.
 */
const FLOORS: readonly (readonly string[])[] = [
  ["base"],
  ["telemetry"],
  ["rpc"],
  ["contract"],
  ["packages", "secrets", "listen"],
  ["network", "config", "browser_app"],
  ["schedule", "channel", "model", "media"],
  ["journal", "channel_worker"],
  ["delivery", "registry", "policy"],
  ["state"],
  ["audit", "trusted_proxy"],
  ["executor"],
  ["tools", "documents", "transcription"],
  ["mcp_servers", "agent"],
  ["automation", "approvals", "retention", "replay"],
  ["gate"],
  ["settings"],
  ["operations"],
  ["authority"],
  ["backup", "local"],
  ["mcp"],
  ["http"],
  ["process"],
];

interface Part {
  path: string;
  source?: string;
  imports: readonly { resolved: string }[];
}

/** `lib/agent/turn.ts` → `agent`; undefined outside of `lib`. */
function folderOf(path: string): string | undefined {
  return /^lib\/([^/]+)\/./.exec(path)?.[1];
}

/** Each import that does not go down, such as `lib/base/log.ts imports lib/agent/turn.ts`. */
function brokenArrows(modules: Iterable<Part>): string[] {
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

/**
 * The entries that the header of a `mod.ts` names: files, folders such as `platform/`, or `""` for
 * every file.
 */
function entriesOf(source: string): string[] {
  const entries = /^ \* (Entries:.*?)^ \*\//ms.exec(source)?.[1] ?? "";
  if (entries.startsWith("Entries: every file.")) return [""];
  return [...entries.matchAll(/^ \* - `([^`]+)`: ./gm)].map((match) => match[1]!);
}

/** What a module imports, and the modules of `lib` that it names as what a process starts with. */
function reachOf({ source = "", imports }: Part): string[] {
  const code = source.replace(/^\s*(?:\/\/|\*|\/\*).*$/gm, "");
  const started = [...code.matchAll(/["`](lib\/[^"`\s]+\.ts)["`]/g)].map((match) => match[1]!);
  return [...imports.map(({ resolved }) => resolved), ...started];
}

/** Each import past the entries of a folder, entry that nobody outside uses, and missing header. */
function brokenEntries(parts: readonly Part[]): string[] {
  const entries = new Map<string, string[]>();
  for (const { path } of parts) {
    const folder = folderOf(path);
    if (folder === undefined) continue;
    const mod = parts.find((part) => part.path === `lib/${folder}/mod.ts`);
    if (!entries.has(folder)) entries.set(folder, entriesOf(mod?.source ?? ""));
  }
  const broken: string[] = [];
  const used = new Set<string>();
  for (const part of parts) {
    if (TEST_CODE.test(part.path)) continue;
    for (const resolved of reachOf(part)) {
      const to = folderOf(resolved);
      if (to === undefined || to === folderOf(part.path)) continue;
      const file = resolved.slice(`lib/${to}/`.length);
      const entry = entries.get(to)?.find((name) =>
        name === file || name === "" || name.endsWith("/") && file.startsWith(name)
      );
      if (entry === undefined) broken.push(`${part.path} imports ${resolved}, which is no entry`);
      else used.add(`lib/${to}/${entry}`);
    }
  }
  for (const [folder, names] of entries) {
    if (names.length === 0) broken.push(`lib/${folder}/mod.ts names no entries`);
    for (const name of names) {
      if (!used.has(`lib/${folder}/${name}`)) broken.push(`nobody imports lib/${folder}/${name}`);
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

Deno.test("folders of lib are imported by the entries that their mod.ts names", async () => {
  const exported = Object.values<string>(EXPORTS).map((path) => ({ resolved: path.slice(2) }));
  const modules = (await readModules(ROOT, IMPORT_MAP)).values();
  assertEquals(brokenEntries([...modules, { path: "deno.json", imports: exported }]), []);
});

Deno.test("an import past the entries, an unused entry and a missing header are found", () => {
  const header =
    "/**\n * Turns.\n *\n * Entries:\n * - `turn.ts`: a turn\n * - `old/`: gone\n */\n";
  assertEquals(
    brokenEntries([
      { path: "lib/agent/mod.ts", source: header, imports: [] },
      { path: "lib/agent/lane.ts", imports: [{ resolved: "lib/agent/history.ts" }] },
      { path: "lib/agent/lane_test.ts", imports: [{ resolved: "lib/gate/gate.ts" }] },
      {
        path: "lib/gate/gate.ts",
        source: 'moduleUrl("lib/agent/lane.ts");\n// "lib/agent/history.ts"\n',
        imports: [{ resolved: "lib/agent/turn.ts" }],
      },
    ]),
    [
      "lib/gate/gate.ts imports lib/agent/lane.ts, which is no entry",
      "nobody imports lib/agent/old/",
      "lib/gate/mod.ts names no entries",
    ],
  );
});

Deno.test("docs/architecture.md names the floors as they are, and files that there are", async () => {
  const page = await Deno.readTextFile(`${ROOT}docs/architecture.md`);
  const rows = [...page.matchAll(/^\| (`.*?`) +\|/gm)].map(([, names]) => names!.match(/\w+/g)!);
  assertEquals(rows, FLOORS.toReversed().map((folders) => [...folders]));
  const modules = await readModules(ROOT, IMPORT_MAP);
  let room = "";
  const missing: string[] = [];
  for (const [, name] of page.matchAll(/(?:→|^(?:gateway|launcher|channel|child)) +([a-z_/]+)/gm)) {
    const isWhole = /^(lib|channels)\//.test(name!);
    if (isWhole) room = name!.split("/", 2).join("/");
    const path = isWhole ? `${name}.ts` : `${room}/${name}.ts`;
    if (!modules.has(path)) missing.push(path);
  }
  assertEquals(missing, []);
});
