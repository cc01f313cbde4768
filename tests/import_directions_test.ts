import { assertEquals } from "@std/assert";
import { importsOf, readModules } from "./support/module_graph.ts";

const ROOT = new URL("../", import.meta.url).pathname;
const { imports: IMPORT_MAP } = JSON.parse(await Deno.readTextFile(`${ROOT}imports.json`));

interface Rule {
  name: string;
  from: RegExp;
  mayNot: RegExp;
}

const TEST_CODE = /(^(tests|bench|proof)\/|_test\.ts$|\/testing\/|_fixture\.ts$)/;

const RULES: Rule[] = [
  { name: "lib never imports cli or channels", from: /^lib\//, mayNot: /^(cli|channels)\// },
  { name: "cli imports lib, not channels' insides", from: /^cli\//, mayNot: /^channels\/[^/]+\// },
  {
    name: "channels import lib/channel and what stands below it",
    from: /^channels\//,
    mayNot: /^(cli\/|lib\/(?!(base|contract|channel|listen)\/))/,
  },
  {
    name: "child sides of tools stand alone",
    from: /^lib\/tools\/child\//,
    mayNot:
      /^(npm:|lib\/(?!tools\/child\/|rpc\/|executor\/serve_child\.ts$|base\/(layout|protected_names)\.ts$))/,
  },
  {
    name: "the proxy and the relay of sandboxed programs stand alone",
    from: /^lib\/network\//,
    mayNot: /^(npm:|lib\/(?!network\/|rpc\/))/,
  },
  {
    // What a build is fresh by: lib/browser_app/build_app.ts.
    name: "the browser app imports the contract, pages of channels, and no schema",
    from: /^webui\//,
    mayNot: /^(cli\/|channels\/(?![^/]+\/webui\/)|npm:zod|lib\/(?!contract\/))/,
  },
  {
    name: "program code imports no test code",
    from: /^(cli|lib|channels|webui|mod\.ts)/,
    mayNot: TEST_CODE,
  },
];

/** Rooms of the process that holds the authority. */
const AUTHORITY =
  /^lib\/(approvals|audit|authority|executor|gate|mcp_servers|policy|secrets|settings|state)\//;

Deno.test("imports go one way", async () => {
  const broken: string[] = [];
  for (const { path, imports } of (await readModules(ROOT, IMPORT_MAP)).values()) {
    if (TEST_CODE.test(path)) continue;
    for (const { name, from, mayNot } of RULES) {
      if (!from.test(path)) continue;
      for (const { resolved, typeOnly } of imports) {
        if (!typeOnly && mayNot.test(resolved)) broken.push(`${name}: ${path} imports ${resolved}`);
      }
    }
  }
  assertEquals(broken, []);
});

Deno.test("the authority's import graph opens no connection", async () => {
  const modules = await readModules(ROOT, IMPORT_MAP);
  const opens =
    /\bfetch\(|\bDeno\.(connect|connectTls|startTls|listen|listenTls|serve|listenDatagram|resolveDns)\b|\bnew (WebSocket|EventSource)\b/;
  const network =
    /^(node:(http|https|http2|net|tls|dgram|dns)\b|npm:(?!zod@|ipaddr\.js@|croner@|deno-std@|jsonc-parser@|@opentelemetry\/api@|@logtape\/logtape@))/;
  const broken: string[] = [];
  const seen = new Map<string, string>();
  const queue = [...modules.keys()].filter((path) =>
    AUTHORITY.test(path) && !TEST_CODE.test(path) && !path.endsWith("/child.ts")
  );
  for (const path of queue) seen.set(path, path);
  while (queue.length > 0) {
    const path = queue.pop()!;
    const module = modules.get(path)!;
    const code = module.source.replace(/^\s*(?:\/\/|\*|\/\*).*$/gm, "");
    if (opens.test(code)) broken.push(`${seen.get(path)}: ${code.match(opens)![0]}`);
    for (const { resolved, typeOnly } of module.imports) {
      if (typeOnly) continue;
      if (network.test(resolved)) broken.push(`${seen.get(path)} > ${resolved}`);
      if (modules.has(resolved) && !seen.has(resolved)) {
        seen.set(resolved, `${seen.get(path)} > ${resolved}`);
        queue.push(resolved);
      }
    }
  }
  assertEquals(broken, []);
});

Deno.test("the import reader sees each way of importing", () => {
  const found = importsOf(
    'import a from "./a.ts";\nimport type { B } from "./b.ts";\nexport * from "./c.ts";\n' +
      'import {\n  d,\n} from "./d.ts";\nconst e = await import("./e.ts");\n// import "./f.ts"\n' +
      'export const g = [\n  "./g.ts",\n];\n',
  );
  assertEquals(found.map(({ specifier }) => specifier), [
    "./a.ts",
    "./b.ts",
    "./c.ts",
    "./d.ts",
    "./e.ts",
  ]);
  assertEquals(found.map(({ typeOnly }) => typeOnly), [false, true, false, false, false]);
  assertEquals(found.map(({ isDynamic }) => isDynamic), [false, false, false, false, true]);
});
