import {
  assert,
  assertEquals,
  assertFalse,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import type { WantedPackages } from "../../lib/packages/package_fetcher.ts";
import type { SetupFinding } from "../../lib/channel/descriptor.ts";
import { tempHome } from "../../lib/config/testing/temp_home.ts";
import type { TempHome } from "../../lib/config/testing/temp_home.ts";
import { ServiceError } from "../../lib/base/errors.ts";
import { parseCommand, parseHead } from "../parse.ts";
import { testPackages } from "../testing/channel_packages.ts";
import { memoryOutput } from "../testing/memory_output.ts";
import plugins, { runPlugins } from "./plugins.ts";

const TOKEN = "s3cret-token-of-chat";
const GOOD = { server: "irc.example", botToken: TOKEN };

interface World extends AsyncDisposable {
  home: TempHome;
  /** Of the environment. */
  variables: Record<string, string>;
  fetched: WantedPackages[];
  /** What the package's own check finds. */
  findings: SetupFinding[];
  run(line: string): Promise<{ exit: number; stdout: string; stderr: string }>;
}

async function world(config?: unknown, fetchError?: Error): Promise<World> {
  const variables: Record<string, string> = {};
  const home = await tempHome(variables);
  if (config !== undefined) await home.write(config);
  const fetched: WantedPackages[] = [];
  const findings: SetupFinding[] = [];
  return {
    findings,
    home,
    variables,
    fetched,
    async run(line) {
      const { out, stdout, stderr } = memoryOutput();
      const parsed = parseCommand("plugins", plugins, parseHead(["plugins", ...line.split(" ")]));
      const exit = await runPlugins({ ...parsed, out }, {
        paths: home.paths,
        env: home.env,
        channels: testPackages,
        packages: {
          ensure(wanted) {
            fetched.push(wanted);
            return fetchError === undefined ? Promise.resolve() : Promise.reject(fetchError);
          },
        },
        check: () => Promise.resolve(findings),
      });
      assertFalse((stdout.text + stderr.text).includes(TOKEN));
      return { exit, stdout: stdout.text, stderr: stderr.text };
    },
    [Symbol.asyncDispose]: () => home[Symbol.asyncDispose](),
  };
}

Deno.test("plugins list shows the broken as failed, with why, and loads no runtime (C2, C4, C6)", async () => {
  await using test = await world({
    channels: { chat: { ...GOOD, enabled: true }, gone: { enabled: true } },
  });
  const { exit, stdout } = await test.run("list");
  assertEquals(exit, 0);
  const rows = stdout.trim().split("\n").slice(1).map((line) => line.split(/\s{2,}/));
  assertEquals(rows.map(([name, , state]) => [name, state]), [
    ["chat", "on"],
    ["bad", "failed"],
    ["other", "failed"],
    ["gone", "failed"],
  ]);
  assertStringIncludes(
    stdout,
    "channels/bad/manifest.ts: it fails while it is loaded: no such thing",
  );
  assertStringIncludes(rows[2]!.at(-1)!, "other");
  const lines = (await test.run("list --json")).stdout.trim().split("\n").map((line) =>
    JSON.parse(line)
  );
  assertEquals(lines.map(({ name, enabled }) => [name, enabled]), [
    ["chat", true],
    ["bad", false],
    ["other", false],
    ["gone", true],
  ]);
});

Deno.test("plugins list works without a file, and with one that is broken", async () => {
  await using test = await world();
  assertStringIncludes((await test.run("list")).stdout, "not set: server; botToken, or tokenFile");
  await test.home.write('{ "api": { "port": "x" } }');
  const { stdout, stderr } = await test.run("list");
  assertStringIncludes(stdout, "chat");
  assertStringIncludes(stderr, "warning: api.port (line 1)");
});

Deno.test("plugins info shows fields, what is set, and how to go on, and no secret", async () => {
  await using test = await world({ channels: { chat: { botToken: TOKEN } } });
  const { stdout, stderr } = await test.run("info chat");
  assertStringIncludes(stdout, "Chat (chat): off");
  assertStringIncludes(stdout, "not set: server");
  assert(/botToken +secret +or tokenFile +\(set\)/.test(stdout), stdout);
  assert(/mode +all\|mention/.test(stdout), stdout);
  assertStringIncludes(stdout, "Reaches: {server}:{port}, api.example");
  assertEquals(stderr, "Set it: service config set channels.chat.server VALUE\n");
  const json = JSON.parse((await test.run("info chat --json")).stdout);
  assertEquals([json.name, json.descriptor.permissions.variables], ["chat", ["CHAT_DEBUG"]]);
  assertStringIncludes((await test.run("info bad")).stdout, "bad (bad): failed");
  const error = await assertRejects(() => test.run("info chatt"), ServiceError);
  assertEquals(error.code, "not_found");
  assertStringIncludes(error.message, "(did you mean chat?); there are chat, bad, other");
});

Deno.test("plugins enable and disable write the file, with its comments, and fetch packages", async () => {
  await using test = await world(`{
  // mine
  "channels": { "chat": { "server": "irc.example", "botToken": "\${TOKEN_OF_CHAT}" } }
}
`);
  const { home } = test;
  // The variable is not set in this shell; where the service runs it may be.
  const before = await home.read();
  await assertRejects(() => test.run("enable chat"), ServiceError, "TOKEN_OF_CHAT");
  assertEquals([await home.read(), test.fetched], [before, []]);
  test.variables.TOKEN_OF_CHAT = TOKEN;
  const enabled = await test.run("enable chat");
  assertEquals(enabled.exit, 0);
  assertStringIncludes(enabled.stderr, "chat is enabled in");
  assertStringIncludes(enabled.stderr, "applies it now");
  const text = await home.read();
  assertStringIncludes(text, "// mine");
  assertStringIncludes(text, '"${TOKEN_OF_CHAT}"');
  assertEquals(JSON.parse(text.replace("// mine", "")).channels.chat.enabled, true);
  assertEquals(test.fetched.map(({ user }) => user), ["the channel chat"]);
  const again = (await test.run("enable chat")).stderr;
  assertStringIncludes(again, "was enabled already");
  assertStringIncludes(again, "start anew: service plugins disable chat, then enable it again");
  assertEquals(await home.read(), text);
  const off = JSON.parse((await test.run("disable chat --json")).stdout);
  assertEquals([off.enabled, off.written, off.restart, off.warnings], [false, true, false, []]);
  assertEquals(test.fetched.length, 2);
  delete test.variables.TOKEN_OF_CHAT;
  const forced = await test.run("enable chat --force");
  assertEquals(forced.exit, 0);
  assertStringIncludes(forced.stderr, "warning: It can't be tried here: ");
  assertEquals(await home.read(), text);
});

Deno.test("plugins enable api and disable api switch the HTTP API, with the file's comments", async () => {
  await using test = await world(`{
  // mine
  "api": { "port": 8901 }
}
`);
  const api = async () => JSON.parse((await test.home.read()).replace("// mine", "")).api;
  const { exit, stderr } = await test.run("enable api");
  assertEquals(exit, 0);
  assertStringIncludes(stderr, "api is enabled in");
  assertStringIncludes(stderr, "service restart");
  assertEquals(await api(), { port: 8901, enabled: true });
  assertStringIncludes((await test.run("list")).stderr, "HTTP API: on");
  assertStringIncludes((await test.run("enable api")).stderr, "was enabled already");
  const off = JSON.parse((await test.run("disable api --json")).stdout);
  assertEquals([off.enabled, off.written, off.restart], [false, true, true]);
  assertEquals(await api(), { port: 8901, enabled: false });
  assertStringIncludes((await test.run("list")).stderr, "service plugins enable api");
  assertEquals(test.fetched, []);
});

Deno.test("plugins enable api writes nothing that would not start, and has no instances", async () => {
  await using test = await world({ api: { host: "0.0.0.0" } });
  const before = await test.home.read();
  const error = await assertRejects(() => test.run("enable api"), ServiceError, "api.apiKey");
  assertEquals(error.code, "config_invalid");
  await assertRejects(() => test.run("enable api --instance a"), ServiceError, "no instances");
  await assertRejects(() => test.run("info api"), ServiceError, "service config get api");
  assertEquals(await test.home.read(), before);
  await using fresh = await world();
  await fresh.run("enable api");
  assertEquals(JSON.parse(await fresh.home.read()).api, { enabled: true });
});

Deno.test("plugins enable changes nothing for what its package's own check refuses, unless forced", async () => {
  await using test = await world({ channels: { chat: GOOD } });
  const before = await test.home.read();
  test.findings.push(
    { level: "error", field: "botToken", message: "the platform does not know this token" },
    { level: "warning", field: "server", message: "server could not be tried" },
    { level: "warning", message: "nobody answers" },
  );
  const refused = await assertRejects(() => test.run("enable chat"), ServiceError);
  assertEquals([refused.code, refused.message], [
    "not_enabled",
    "Cannot enable chat:\n  botToken: the platform does not know this token\n" +
    "  server could not be tried\n  nobody answers\n" +
    "Nothing was written. To enable it anyway: service plugins enable chat --force",
  ]);
  await assertRejects(() => test.run("enable chat --json"), ServiceError, "Cannot enable chat");
  assertEquals(await test.home.read(), before);
  for (const said of ["chat is enabled in", "was enabled already"]) {
    const { exit, stderr } = await test.run("enable chat --force");
    assertEquals(exit, 0);
    assertStringIncludes(stderr, said);
    assertStringIncludes(
      stderr,
      "\nwarning: botToken: the platform does not know this token\n" +
        "warning: server could not be tried\nwarning: nobody answers\n",
    );
  }
  await assertRejects(() => test.run("enable chat"), ServiceError, "is enabled already");
  const { warnings } = JSON.parse((await test.run("enable chat --json --force")).stdout);
  assertEquals(warnings.slice(-3), [
    "botToken: the platform does not know this token",
    "server could not be tried",
    "nobody answers",
  ]);
  assertFalse((await test.run("disable chat")).stderr.includes("token"));
  await assertRejects(() => test.run("disable chat --force"), ServiceError, "takes no --force");
});

Deno.test("plugins enable is refused while something is missing, and says how to set it", async () => {
  await using test = await world({ channels: { chat: { server: "irc.example" } } });
  const before = await test.home.read();
  const error = await assertRejects(() => test.run("enable chat"), ServiceError);
  assertEquals(error.code, "config_invalid");
  assertStringIncludes(error.message, "Cannot enable chat: botToken, or tokenFile is not set");
  assertStringIncludes(error.message, "service secrets set CHAT_BOT_TOKEN");
  assertEquals(await test.home.read(), before);
  assertEquals(test.fetched, []);
  for (
    const [line, code] of [
      ["enable bad", "config_invalid"],
      ["enable nobody", "not_found"],
      ["disable nobody", "not_found"],
      ["enable chat --instance x", "not_found"],
    ] as const
  ) {
    assertEquals((await assertRejects(() => test.run(line), ServiceError)).code, code, line);
  }
  await assertRejects(() => test.run("list --instance x"), ServiceError, "takes no --instance");
  await assertRejects(() => test.run("enable"), ServiceError, "NAME");
  assertEquals(await test.home.read(), before);
});

Deno.test("plugins disable works for what is broken or gone (C6)", async () => {
  await using test = await world({ channels: { bad: { enabled: true }, gone: { enabled: true } } });
  for (const name of ["bad", "gone"]) assertEquals((await test.run(`disable ${name}`)).exit, 0);
  assertEquals(JSON.parse(await test.home.read()).channels, {
    bad: { enabled: false },
    gone: { enabled: false },
  });
});

Deno.test("plugins enable changes nothing when packages cannot be fetched, unless forced (C9)", async () => {
  await using test = await world(
    { channels: { chat: GOOD } },
    new ServiceError("config_invalid", "Cannot fetch npm:a@1.0.0 for the channel chat"),
  );
  const before = await test.home.read();
  await assertRejects(() => test.run("enable chat"), ServiceError, "Cannot fetch npm:a@1.0.0");
  assertEquals(await test.home.read(), before);
  const { exit, stderr } = await test.run("enable chat --force");
  assertEquals(exit, 0);
  assertStringIncludes(stderr, "warning: Cannot fetch npm:a@1.0.0 for the channel chat");
  assertEquals(JSON.parse(await test.home.read()).channels.chat.enabled, true);
});

Deno.test("plugins enable leaves a broken file alone, and names what is wrong", async () => {
  await using test = await world('{ "api": { "port": "x" }, "channels": { "chat": {} } }');
  const before = await test.home.read();
  const error = await assertRejects(() => test.run("enable chat"), ServiceError, "api.port");
  assertEquals(error.code, "config_invalid");
  assertEquals(await test.home.read(), before);
});

Deno.test("plugins info has what a channel can do, its steps, and another language where one is wanted", async () => {
  await using test = await world({ channels: { chat: GOOD } });
  const english = (await test.run("info chat")).stdout;
  assertStringIncludes(english, "Can: streams, ");
  assertStringIncludes(english, "buttons");
  assertStringIncludes(english, "Cannot: typing, ");
  assertStringIncludes(english, "Languages: en, de");
  assertStringIncludes(english, "1. Make a bot and copy its token.");
  const german = (await test.run("info chat --locale de")).stdout;
  assertStringIncludes(german, "Plausch (chat)");
  assertStringIncludes(german, "das Feld server");
  assertStringIncludes(german, "1. Leg einen Bot an und kopier seinen Schlüssel.");
  assertEquals((await test.run("info chat --locale xx")).stdout, english);
  test.variables.LC_ALL = "de_AT.UTF-8";
  assertEquals((await test.run("info chat")).stdout, german);
  // A program gets the same wherever it runs.
  const json = JSON.parse((await test.run("info chat --json")).stdout);
  assertEquals([json.locale, json.capabilities], ["en", ["streaming", "buttons"]]);
  assertEquals(JSON.parse((await test.run("info chat --json --locale de")).stdout).locale, "de");
  await assertRejects(() => test.run("list --locale de"), ServiceError, "takes no --locale");
});
