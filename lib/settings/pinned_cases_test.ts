import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { ServiceError } from "../base/errors.ts";
import { loadConfig } from "./load.ts";
import { policyTestFile } from "../config/paths.ts";
import { tempHome } from "../config/testing/temp_home.ts";

const DENY_SECRETS = {
  name: "team.secrets",
  effect: "deny",
  capabilities: ["fs.read", "fs.write"],
  targets: ["workspace/secrets/**"],
};
const CASES = [
  { name: "notes", tool: "read_file", args: { path: "notes.md" }, expected: "allow" },
  { name: "secrets", tool: "read_file", args: { path: "secrets/a" }, expected: "deny" },
];

async function homeWith(config: unknown, cases: unknown) {
  const home = await tempHome();
  await home.write(config);
  await Deno.writeTextFile(
    policyTestFile(home.paths),
    typeof cases === "string" ? cases : JSON.stringify(cases),
  );
  return home;
}

Deno.test("loadConfig() loads a configuration that keeps every pinned case, also before a first start", async () => {
  await using home = await homeWith({ gates: { rules: [DENY_SECRETS] } }, CASES);
  assertEquals((await loadConfig(home)).config.gates.rules.length, 1);
});

Deno.test("loadConfig() names each pinned case that a configuration breaks, and keeps no copy of it", async () => {
  await using home = await homeWith({ gates: { rules: [] } }, CASES);
  const error = await assertRejects(() => loadConfig(home), ServiceError);
  assertEquals([error.code, error.details.param], ["config_invalid", "gates.rules"]);
  assertStringIncludes(error.message, 'case 2 "secrets": expected deny, got allow');
  assertStringIncludes(error.message, "rule workspace.read");
  assertEquals(error.message.includes("notes"), false);
  await assertRejects(() => Deno.stat(home.paths.lastGoodFile), Deno.errors.NotFound);
});

Deno.test("loadConfig() refuses a file of cases that holds none, naming the place", async () => {
  const broken: [unknown, string][] = [
    ["", "it is no JSON"],
    [{}, "expected array"],
    [[{ tool: "read_file", args: {}, expected: "maybe" }], "[0].expected"],
    [[{ tool: "read_file", args: {}, expected: "deny", attendd: true }], "attendd"],
    [[{ tool: "read_file", args: {}, expected: "deny", channel: 5 }], "[0].channel"],
    [[{ tool: "read_fil", args: {}, expected: "deny" }], 'there is no tool "read_fil"'],
    [[{ tool: "read_file", args: {}, expected: "deny" }], "Arguments of read_file: path"],
  ];
  for (const [cases, words] of broken) {
    await using home = await homeWith({}, cases);
    const error = await assertRejects(() => loadConfig(home), ServiceError);
    assertEquals(error.code, "config_invalid");
    assertStringIncludes(error.message, words);
    assertStringIncludes(error.message, "policy.test.json");
  }
});

Deno.test("loadConfig() resolves no host for a case", async () => {
  const url = "https://name.that.does.not.exist.invalid/x";
  await using home = await homeWith({
    gates: {
      rules: [{
        name: "team.pages",
        effect: "allow",
        capabilities: ["net.fetch"],
        targets: ["*.exist.invalid"],
      }],
    },
  }, [
    { tool: "web_fetch", args: { url }, expected: "allow" },
    { tool: "web_fetch", args: { url }, attended: false, expected: "deny" },
    { tool: "web_fetch", args: { url: "http://169.254.169.254/latest" }, expected: "deny" },
    {
      tool: "web_fetch",
      args: { url: "https://a.example/" },
      personHosts: ["a.example"],
      expected: "allow",
    },
  ]);
  await loadConfig(home);
});

Deno.test("loadConfig() names the place, the value and what was expected of a wrong rule", async () => {
  const rule = { name: "a", effect: "deny", capabilities: ["fs.read"] };
  const wrong: [unknown, string[]][] = [
    [[{ ...rule, effect: "permit" }], ["gates.rules[0].effect", '"permit"', "ask"]],
    [[{ ...rule, name: "own" }], ["gates.rules[0].name", '"own"', "built in"]],
    [[rule, { ...rule }], ["gates.rules[1].name", '"a"', "gates.rules[0]"]],
    [[{ ...rule, name: "a b" }], ["gates.rules[0].name", '"a b"', "at most 64"]],
    [[{ ...rule, target: ["/x"] }], ["gates.rules[0].target", "gates.rules[0].targets"]],
    [[{ ...rule, targets: [] }], ["gates.rules[0].targets"]],
    [[{ ...rule, targets: ["src/**"] }], [
      "gates.rules[0].targets[0]",
      '"src/**"',
      "workspace/",
    ]],
    [[{ ...rule, targets: ["/a/../b"] }], ["gates.rules[0].targets[0]", '"/a/../b"']],
    [[{ ...rule, targets: ["/a/*.{pem,key}"] }], ["gates.rules[0].targets[0]"]],
    [[{ ...rule, capabilities: ["fs.reed"] }], ["gates.rules[0].capabilities[0]", '"fs.reed"']],
    [[{ ...rule, capabilities: ["net.fetch"], targets: ["https://a.b/"] }], ["*.<host>"]],
    [[{ ...rule, capabilities: ["message.send"], targets: ["telegram"] }], ["<channel>:*"]],
    [[{ ...rule, capabilities: ["exec"], targets: ['["git"'] }], ["JSON list"]],
    [[{ ...rule, capabilities: ["fs.read", "exec"], targets: ["/a"] }], ["one kind"]],
    [[{ ...rule, capabilities: undefined, targets: ["/a"] }], ["one kind"]],
    [[{ ...rule, capabilities: ["mcp.call"], targets: ["/a"] }], ["<server>/*"]],
    [[{ ...rule, capabilities: ["automation.write"], targets: ["/a"] }], ["one kind"]],
    [[{ ...rule, actors: [" cli:local"] }], ["gates.rules[0].actors[0]"]],
    [[{ ...rule, channels: ["tele\u200bgram"] }], ["gates.rules[0].channels[0]"]],
    ["deny", ["gates.rules"]],
  ];
  for (const [rules, words] of wrong) {
    await using home = await tempHome();
    await home.write({ gates: { rules } });
    const error = await assertRejects(() => loadConfig(home), ServiceError);
    assertEquals(error.code, "config_invalid");
    for (const word of words) assertStringIncludes(error.message, word);
  }
});

Deno.test("loadConfig() lets a rule that denies hold behind a link, and none that allows", async () => {
  for (const effect of ["deny", "allow"]) {
    await using home = await tempHome();
    const { root } = home;
    await Deno.mkdir(`${root}/re{al`);
    await Deno.symlink(`${root}/re{al`, `${root}/link`);
    await home.write({
      gates: {
        rules: [
          { name: "r", effect, capabilities: ["fs.read"], targets: [`${root}/link/**`] },
          { name: "w", effect, capabilities: ["fs.write"], targets: ["workspace/l/**"] },
        ],
      },
    });
    await Deno.mkdir(home.paths.workspace);
    await Deno.symlink(`${root}/re{al`, `${home.paths.workspace}/l`);
    const expected = effect === "deny" ? "deny" : "ask";
    const cases = [
      { tool: "read_file", args: { path: `${root}/re{al/a.txt` }, expected },
      { tool: "write_file", args: { path: "l/a.txt", content: "x" }, expected },
    ];
    await Deno.writeTextFile(policyTestFile(home.paths), JSON.stringify(cases));
    await loadConfig(home);
  }
});
