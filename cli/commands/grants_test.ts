import { assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { grantTarget } from "../../lib/policy/grant_target.ts";
import { ServiceError } from "../../lib/base/errors.ts";
import { EXIT } from "../command.ts";
import { operatorHome } from "../testing/operator_home.ts";
import command, { runGrants } from "./grants.ts";

const setUp = () => operatorHome("grants", command, runGrants);

Deno.test("grants add prints the id alone, for a pipe and a terminal, and records the grant", async () => {
  for (const terminal of [false, true]) {
    await using temp = await setUp();
    const line = ["add", "api:reports", "fs.read", "/srv/a b.csv", "--note", "the report"];
    const { exit, stdout, stderr } = await temp.run(line, { terminal });
    assertEquals(exit, EXIT.done);
    assertMatch(stdout, /^gr_[a-z0-9]{16}\n$/);
    assertEquals(stderr, "Granted: api:reports may fs.read this target, even unattended\n");
    const [record, ...more] = await temp.records();
    assertEquals(more, []);
    const { subject, capability, target, note, id } = record!.data;
    assertEquals([record!.kind, subject, capability, target, note, id], [
      "grant.added",
      "api:reports",
      "fs.read",
      "/srv/a b.csv",
      "the report",
      stdout.trim(),
    ]);
  }
});

Deno.test("grants add takes a command as a refusal prints it, and a session of the command line", async () => {
  await using temp = await setUp();
  const target = grantTarget({
    kind: "command",
    argv: ["/bin/sh", "-c", "echo 'ü' | wc"],
    program: "/usr/bin/dash",
    cwd: "/work",
  })!;
  const { stdout } = await temp.run(["add", "default", "exec", target, "--json"]);
  const grant = JSON.parse(stdout);
  assertEquals([grant.subject, grant.target, grant.note], ["cli:default", target, ""]);
  assertEquals(JSON.parse((await temp.run(["list", "--json"])).stdout), grant);
});

Deno.test("grants add takes tools of MCP servers and uses of secrets, and refuses what could never hold", async () => {
  await using temp = await setUp();
  const definition = "0123456789abcdef".repeat(4);
  const command = grantTarget({
    kind: "command",
    argv: ["npm", "ci"],
    program: "/usr/bin/npm",
    cwd: "/work",
    hosts: ["a.net:443", "b.net:80"],
  })!;
  const good: [string, string][] = [
    ["mcp.call", `files/read#${definition}`],
    ["mcp.call", `git-hub/a/b c#${definition}`],
    ["secret.use", "KEY@api.example.com:443"],
    ["secret.use", "KEY@http://localhost:8080"],
    ["secret.use", "KEY@[::1]:443"],
    ["secret.use", 'KEY@{"argv":["npm","ci"],"cwd":"/work","program":"/usr/bin/npm"}'],
    ["exec", command],
    ["net.fetch", '{"headers":{"x-key":"${secret:KEY}"},"url":"https://a.net/"}'],
  ];
  for (const [capability, target] of good) {
    const { stdout } = await temp.run(["add", "api:a", capability, target, "--json"]);
    assertEquals(JSON.parse(stdout).target, target);
  }
  const bad: [string, string][] = [
    ["mcp.call", "files/read"],
    ["mcp.call", `files/read#${definition}0`],
    ["mcp.call", `Files/read#${definition}`],
    ["mcp.call", `files/*`],
    ["secret.use", "KEY"],
    ["secret.use", "KEY@api.example.com"],
    ["secret.use", "KEY@*.example.com:443"],
    ["secret.use", "KEY@API.example.com:443"],
    ["secret.use", "key@api.example.com:443"],
    ["secret.use", "KEY@https://api.example.com:443"],
    ["secret.use", 'KEY@{"argv":["npm"]}'],
    ["exec", command.replace('["a.net:443","b.net:80"]', '["b.net:80","a.net:443"]')],
    ["exec", command.replace('["a.net:443","b.net:80"]', "[]")],
    ["exec", command.replace('["a.net:443","b.net:80"]', '["a.net"]')],
    ["net.fetch", '{"headers":{},"url":"https://a.net/"}'],
    ["net.fetch", '{"url":"https://a.net/","headers":{"x-key":"a"}}'],
  ];
  for (const [capability, target] of bad) {
    await assertRejects(
      () => temp.run(["add", "api:a", capability, target]),
      ServiceError,
      "target is",
      target,
    );
  }
});

Deno.test("grants lists them as a table that nothing in them can break", async () => {
  await using temp = await setUp();
  const none = await temp.run([]);
  assertEquals([none.exit, none.stdout], [EXIT.done, ""]);
  assertStringIncludes(none.stderr, "No grants");
  await temp.run(["add", "api:a", "fs.read", "/a\u001b[2J\nb\u200b", "--note", "x\u202ey"]);
  for (const terminal of [false, true]) {
    const { stdout } = await temp.run(["list"], { terminal });
    assertEquals(stdout.split("\n").length, 3);
    for (const hidden of ["\u001b[2J", "\u200b", "\u202e"]) {
      assertEquals(stdout.includes(hidden), false);
    }
    assertStringIncludes(stdout, "[2J");
  }
});

Deno.test("grants rm takes one back, once", async () => {
  await using temp = await setUp();
  const id = (await temp.run(["add", "api:a", "net.fetch", "https://a.example/"])).stdout.trim();
  const { stderr } = await temp.run(["rm", id]);
  assertEquals(stderr, `Removed ${id} (net.fetch of api:a)\n`);
  const error = await assertRejects(() => temp.run(["rm", id]), ServiceError, id);
  assertEquals(error.code, "not_found");
  assertEquals((await temp.records()).map(({ kind }) => kind), ["grant.added", "grant.removed"]);
});

Deno.test("grants add refuses what could never hold, and writes nothing", async () => {
  await using temp = await setUp();
  const cases: [string[], string][] = [
    [["api:a", "fs.rea", "/a"], "CAPABILITY"],
    [["1api:a", "fs.read", "/a"], "subject"],
    [["api:a", "fs.read", "a"], "target"],
    [["api:a", "net.fetch", "a.example"], "target"],
    [["api:a", "exec", "ls"], "target"],
    [["api:a", "fs.read", "/a", "--note", "x".repeat(501)], "note"],
    [["api:a", "fs.read", "/a", "--yes"], "yes"],
    [["api:a", "fs.read"], "TARGET"],
  ];
  for (const [line, param] of cases) {
    const error = await assertRejects(async () => await temp.run(["add", ...line]), ServiceError);
    assertEquals([line, error.details.param], [line, param]);
  }
  assertEquals([(await temp.run([])).stdout, await temp.records()], ["", []]);
});

Deno.test("G11 grants refuses damaged state until reset", async () => {
  await using temp = await setUp();
  await temp.run(["add", "api:a", "fs.read", "/a"]);
  await Deno.remove(`${temp.home.paths.operatorDir}/grants.json`);
  const error = await assertRejects(() => temp.run(["list"]), ServiceError, "service grants reset");
  assertEquals(error.code, "refused");
  const { stdout } = await temp.run(["reset", "--yes", "--json"]);
  assertEquals(JSON.parse(stdout).reset, true);
  assertEquals((await temp.run(["list", "--json"])).stdout, "");
  assertEquals((await temp.records()).map(({ kind }) => kind), ["grant.added", "state.reset"]);
});
