import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { openOperatorState } from "../../lib/state/operator_state.ts";
import { ServiceError } from "../../lib/base/errors.ts";
import { EXIT } from "../command.ts";
import {
  type OperatorHome,
  operatorHome,
  type Ran,
  type RunOptions,
} from "../testing/operator_home.ts";
import type { ValueSource } from "../secrets/read_value.ts";
import command, { runSecrets } from "./secrets.ts";

const VALUE = "hunter2-hunter2";

interface SecretsHome extends AsyncDisposable {
  temp: OperatorHome;
  /** Runs a line with chunks on standard input, or with what is typed at a terminal. */
  run(line: string[], input?: { stdin?: (string | Uint8Array)[]; typed?: string }): Promise<Ran>;
  reveal(name: string): Promise<string | undefined>;
  asked: string[];
}

async function setUp(): Promise<SecretsHome> {
  const asked: string[] = [];
  let input: { stdin?: (string | Uint8Array)[]; typed?: string } = {};
  const temp = await operatorHome("secrets", command, (invocation, deps) =>
    runSecrets(invocation, {
      ...deps,
      valueSource: (): ValueSource => ({
        isTerminal: input.stdin === undefined,
        readHidden: (prompt) => {
          asked.push(prompt);
          return Promise.resolve(input.typed);
        },
        stdin: ReadableStream.from((input.stdin ?? []).map((chunk) =>
          typeof chunk === "string" ? new TextEncoder().encode(chunk) : chunk
        )),
        onWait: () =>
          asked.push("waits"),
      }),
    }));
  const { operatorDir: dir, keysDir } = temp.home.paths;
  return {
    temp,
    asked,
    async run(line, given = {}, options: RunOptions = {}) {
      input = given;
      return await temp.run(line, options);
    },
    async reveal(name) {
      const state = await openOperatorState({ dir, keysDir });
      const secret = state.secrets.reveal(name);
      await state.close();
      return secret?.value;
    },
    [Symbol.asyncDispose]: () => temp[Symbol.asyncDispose](),
  };
}

async function fails(promise: Promise<unknown>, code: string): Promise<string> {
  const error = await assertRejects(() => promise, ServiceError);
  assertEquals(error.code, code);
  assertEquals(/hunter/.test(JSON.stringify({ ...error, message: error.message })), false);
  return error.message;
}

Deno.test("secrets set takes a value from the prompt or standard input, and says only what it is for", async () => {
  await using home = await setUp();
  const typed = await home.run(["set", "TYPED"], { typed: VALUE });
  assertEquals([typed.exit, typed.stdout, home.asked], [EXIT.done, "", [
    "Value of TYPED (hidden): ",
  ]]);
  assertStringIncludes(typed.stderr, "TYPED is set, for the configuration only");
  const line = ["set", "PIPED", "--host", "a.example", "--host=*.b.example", "--command", '["x"]'];
  const piped = await home.run(line, { stdin: ["hunter2-", "hunter2\n"] });
  assertEquals(
    piped.stderr,
    'PIPED is set, for hosts a.example, *.b.example and for commands ["x"]\n',
  );
  assertEquals([await home.reveal("TYPED"), await home.reveal("PIPED")], [VALUE, VALUE]);

  const again = await home.run(["set", "PIPED", "--json"], { stdin: ["hunter3-hunter3"] });
  assertEquals(JSON.parse(again.stdout), {
    name: "PIPED",
    hosts: ["a.example", "*.b.example"],
    commands: ['["x"]'],
    created_at: home.temp.clock.now / 1_000,
    updated_at: home.temp.clock.now / 1_000,
    keys: [],
    restart: [],
    problems: [],
  });
  assertEquals(await home.reveal("PIPED"), "hunter3-hunter3");

  const records = await home.temp.records();
  assertEquals(records.map(({ kind, data }) => [kind, data.name, data.hosts, data.replaced]), [
    ["secret.set", "TYPED", [], false],
    ["secret.set", "PIPED", ["a.example", "*.b.example"], false],
    ["secret.set", "PIPED", ["a.example", "*.b.example"], true],
  ]);
  const said = JSON.stringify([typed, piped, again, records]);
  assertEquals(/hunter/.test(said), false, said);
});

Deno.test("secrets set says of a value that is a word or a number that other texts lose it, too", async () => {
  await using home = await setUp();
  for (const [typed, isWord] of [["password", true], ["12345678", true], ["pa5sword", false]]) {
    const { stderr } = await home.run(["set", "WEAK"], { typed: String(typed) });
    assertEquals(stderr.includes("is a single word or number"), isWord, String(typed));
    assertEquals(stderr.includes(String(typed)), false);
  }
});

Deno.test("secrets set takes one newline off the end of standard input, and no more of a value", async () => {
  await using home = await setUp();
  const cases: [string, string][] = [
    ["12345678\n", "12345678"],
    ["12345678\r\n", "12345678"],
    ["12345678\n\n", "12345678\n"],
    [" 12345678 ", " 12345678 "],
    [
      "-----BEGIN KEY-----\nabc\n-----END KEY-----\n",
      "-----BEGIN KEY-----\nabc\n-----END KEY-----",
    ],
    ["x".repeat(65_536) + "\n", "x".repeat(65_536)],
    ["ünï—😀😀😀😀😀", "ünï—😀😀😀😀😀"],
  ];
  for (const [stdin, value] of cases) {
    await home.run(["set", "NAME"], { stdin: [stdin] });
    assertEquals(await home.reveal("NAME"), value);
  }
});

Deno.test("secrets set refuses a value that is none, and keeps the one that is there", async () => {
  await using home = await setUp();
  await home.run(["set", "NAME"], { stdin: ["first-value"] });
  const cases: [(string | Uint8Array)[], string, RegExp][] = [
    [[], "invalid_request", /value is empty: expected at least 8 characters/],
    [["\n"], "invalid_request", /value is empty/],
    [["hunter2\n"], "invalid_request", /too short/],
    [["hunter2\0hunter2"], "invalid_request", /zero byte/],
    [["hunter2", new Uint8Array([0xff, 0xfe])], "usage", /isn't UTF-8 text; encode/],
    [["hunter2".repeat(5_000), "hunter2".repeat(5_000)], "usage", /more than 65536 bytes/],
  ];
  for (const [stdin, code, message] of cases) {
    assertMatch(await fails(home.run(["set", "NAME"], { stdin }), code), message);
  }
  const { exit, stderr } = await home.run(["set", "NAME"], { typed: undefined });
  assertEquals([exit, stderr], [EXIT.interrupted, "Nothing was set\n"]);
  assertEquals(await home.reveal("NAME"), "first-value");
});

Deno.test("secrets set asks for no value where name or scope cannot be", async () => {
  await using home = await setUp();
  for (
    const line of [["hunter2"], ["NAME=hunter2"], ["PATH"], ["NAME", "--host", "http://x/"], [
      "NAME",
      "--command",
      "[",
    ]]
  ) await fails(home.run(["set", ...line], { typed: VALUE }), "invalid_request");
  assertEquals(home.asked, []);
  assertEquals(await Deno.stat(home.temp.home.paths.keysDir).catch(({ name }) => name), "NotFound");
});

Deno.test("secrets repeats nothing that may be a value typed where none belongs", async () => {
  await using home = await setUp();
  const lines = [
    ["set", "NAME", "hunter2"],
    ["set", "NAME", "--", "-hunter2"],
    ["set", "NAME", "-hunter2"],
    ["set", "NAME", "--hunter2"],
    ["set", "NAME", "--value=hunter2"],
    ["set", "NAME", "--json=hunter2"],
    ["hunter2"],
    ["list", "hunter2"],
    ["rm", "hunter2"],
    ["rm", "NAME", "hunter2"],
    ["set"],
    ["rm"],
    ["list", "--host", "a"],
    ["rm", "NAME", "--yes"],
    ["set", "NAME", "--yes"],
  ];
  for (const line of lines) {
    const message = await fails(home.run(line, { typed: VALUE }), "usage");
    if (line.length === 3 && line[2] === "hunter2") {
      assertStringIncludes(message, "A value is never an argument");
    }
  }
  assertEquals(home.asked, []);
});

Deno.test("secrets list shows names, scopes and times, and rm takes one away", async () => {
  await using home = await setUp();
  const none = await home.run(["list"]);
  assertEquals([none.stdout, none.stderr], [
    "",
    "No secrets. Set one with: service secrets set NAME\n",
  ]);
  await home.run(["set", "B", "--host", "b.example", "--command", "make\tit"], { stdin: [VALUE] });
  home.temp.clock.now += 60_000;
  await home.run(["set", "A"], { stdin: [VALUE] });
  await home.run(["set", "B"], { stdin: [VALUE] });
  const { stdout } = await home.run([]);
  const [header, a, b, ...more] = stdout.trimEnd().split("\n").map((line) => line.split(/ {2,}/));
  assertEquals([header, a, more], [
    ["NAME", "HOSTS", "SET", "CHANGED", "COMMANDS"],
    ["A", "-", "2030-01-01T00:01:00Z", "2030-01-01T00:01:00Z", "-"],
    [],
  ]);
  assertEquals(b!.slice(0, 4), ["B", "b.example", "2030-01-01T00:00:00Z", "2030-01-01T00:01:00Z"]);
  const json = (await home.run(["list", "--json"])).stdout.trimEnd().split("\n");
  assertEquals(json.map((line) => Object.keys(JSON.parse(line))), [
    ["name", "hosts", "commands", "created_at", "updated_at"],
    ["name", "hosts", "commands", "created_at", "updated_at"],
  ]);
  assertEquals(/hunter/.test(stdout + json), false);

  assertEquals((await home.run(["rm", "A"])).stderr, "Removed A\n");
  assertStringIncludes(await fails(home.run(["rm", "A"]), "not_found"), "No secret named A");
  assertEquals(JSON.parse((await home.run(["rm", "B", "--json"])).stdout).removed, true);
  assertEquals((await home.run(["list", "--json"])).stdout, "");
  assertEquals((await home.temp.records()).at(-1)?.kind, "secret.removed");
});

Deno.test("secrets set says what of a running service takes a new value at once", async () => {
  await using home = await setUp();
  await home.temp.home.write({
    channels: {
      telegram: { token: "${secret:SHARED}" },
      websocket: { tokenIssueSecret: "${secret:SHARED}", tokenIssuePath: "/token" },
    },
  });
  const line = ["set", "SHARED"];
  const { stderr } = await home.run(line, { stdin: [VALUE] });
  // A channel is made anew with it.
  assertStringIncludes(stderr, "A running gateway uses it for channels.telegram.token at once\n");
  assertStringIncludes(
    stderr,
    "Restart the gateway to use it for channels.websocket.tokenIssueSecret",
  );
  const json = JSON.parse((await home.run([...line, "--json"], { stdin: [VALUE] })).stdout);
  assertEquals(json.restart, ["channels.websocket.tokenIssueSecret"]);
});

Deno.test("secrets set and rm say what becomes of the configuration that refers to the secret", async () => {
  await using home = await setUp();
  await home.temp.home.write({ providers: { openai: { apiKey: "${secret:OPENAI}" } } });
  const right = await home.run(["set", "OPENAI", "--host", "api.openai.com"], { stdin: [VALUE] });
  assertStringIncludes(right.stderr, "Restart the gateway to use it for providers.openai.apiKey");
  const wrong = await home.run(["set", "OPENAI", "--host", "x.example"], { stdin: [VALUE] });
  assertStringIncludes(wrong.stderr, "won't start");
  assertStringIncludes(wrong.stderr, "the secret OPENAI is for x.example only, and it would go to");
  const gone = await home.run(["rm", "OPENAI"]);
  assertStringIncludes(gone.stderr, "there is no secret OPENAI; to set it: service secrets set");
  assertEquals(/hunter/.test(right.stderr + wrong.stderr + gone.stderr), false);
});

Deno.test("secrets reset asks, and takes nothing away that can be read", async () => {
  await using home = await setUp();
  await home.run(["set", "A"], { stdin: [VALUE] });
  assertMatch(await fails(home.run(["reset", "--yes"]), "invalid_request"), /not damaged/);
  await Deno.remove(`${home.temp.home.paths.keysDir}/secrets.key`);
  const listed = await home.run(["list"]);
  assertStringIncludes(listed.stdout, "A ");
  assertStringIncludes(
    listed.stderr,
    "Their values can't be read. The key of the secrets is gone",
  );
  await fails(home.run(["reset"]), "usage");
  const no = await home.temp.run(["reset"], { terminal: true, answer: "n" });
  assertEquals(no.exit, EXIT.failed);
  const yes = await home.temp.run(["reset"], { terminal: true, answer: "y" });
  assertEquals(yes.exit, EXIT.done);
  assertEquals((await home.run(["list", "--json"])).stdout, "");
  assertEquals((await home.temp.records()).at(-1)?.kind, "state.reset");
  const { paths } = home.temp.home;
  const names = [...Deno.readDirSync(paths.operatorDir)].map(({ name }) => name);
  assert(names.some((name) => name.startsWith("secrets.json.damaged-")));
});

Deno.test("secrets set is on record at once, though the configuration waits for another secret too", async () => {
  await using home = await setUp();
  await home.temp.home.write({
    providers: { a: { apiKey: "${secret:A}" }, b: { apiKey: "${secret:B}" } },
  });
  const { stderr } = await home.run(["set", "A"], { stdin: [VALUE] });
  assertEquals(stderr.includes("Not in the audit log yet"), false, stderr);
  assertEquals((await home.temp.records()).map(({ data }) => data.name), ["A"]);
  await home.temp.home.write({ audit: { mirror: "${secret:B}" } });
  const mirrored = await home.run(["set", "C"], { stdin: [VALUE] });
  assertStringIncludes(mirrored.stderr, "Not in the audit log yet");
  await home.temp.home.write({});
  await home.run(["rm", "C"]);
  assertEquals((await home.temp.records()).map(({ data }) => data.name), ["A", "C", "C"]);
});
