/** `service onboard` as a person and as a script run it, with a real OpenAI-style server. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { startModelServer } from "../fakes/model_server.ts";
import { makeHome, programArgs, type TestHome } from "../support/home.ts";
import { needs } from "../support/needs.ts";

const KEY = "sk-of-a-newcomer";

/** A server that takes one key and has one model. */
function startServer() {
  return startModelServer({
    script: ({ headers, body }) =>
      headers.get("authorization") !== `Bearer ${KEY}`
        ? { status: 401, error: "Incorrect API key provided" }
        : body.model !== "fake"
        ? { status: 404, error: "no such model" }
        : { text: "Hello from the server" },
  });
}

/** Answers `service onboard` at a terminal: each text once its words are on the screen. */
async function type(home: TestHome, answers: [words: string, keys: string][]) {
  const command = [Deno.execPath(), ...programArgs(), "onboard"].map((word) => `'${word}'`).join(
    " ",
  );
  const child = new Deno.Command("script", {
    args: ["--quiet", "--return", "--command", command, "/dev/null"],
    clearEnv: true,
    env: {
      HOME: home.dir,
      SERVICE_HOME: `${home.dir}/home`,
      PATH: Deno.env.get("PATH") ?? "",
      DENO_DIR: Deno.env.get("DENO_DIR") ?? `${Deno.env.get("HOME")}/.cache/deno`,
      NO_COLOR: "1",
      SHELL: "/bin/sh",
    },
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
    signal: AbortSignal.timeout(60_000),
  }).spawn();
  const writer = child.stdin.getWriter();
  let screen = "";
  let seen = 0;
  for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
    screen += chunk;
    for (let next; (next = answers[0]) !== undefined; answers.shift()) {
      const at = screen.indexOf(next[0], seen);
      if (at < 0) break;
      seen = at + next[0].length;
      await writer.write(new TextEncoder().encode(next[1]));
    }
  }
  await writer.close().catch(() => {});
  const { code } = await child.status;
  assertEquals(answers, [], screen);
  return { code, screen };
}

/** Every file of a home that holds a text. */
async function filesWith(dir: string, text: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { name, isDirectory, isFile } of Deno.readDir(dir)) {
    const path = `${dir}/${name}`;
    if (isDirectory) found.push(...await filesWith(path, text));
    else if (isFile && (await Deno.readTextFile(path)).includes(text)) found.push(path);
  }
  return found;
}

Deno.test({
  ...needs(
    "onboard takes a key unseen, tries again, and leaves a home that works",
    "Linux",
    "script",
  ),
  async fn() {
    await using server = startServer();
    await using home = await makeHome();
    const { code, screen } = await type(home, [
      ["Number [6]:", "5\r"],
      ["Name or address", `${server.baseUrl}\r`],
      ["API key for", "sk-not-the-key\r"],
      ["refused the key. Check that you copied all of it.", ""],
      ["Number [2]:", "\r"],
      ["API key for", `\x1b[200~${KEY}\x1b[201~\r`],
      ["It works: answered in ", ""],
      ["Folder that the agent works in", "\r"],
      ["Key: kept encrypted as the secret SERVER_API_KEY", ""],
    ]);
    assertEquals(code, 0, screen);
    assertEquals(/sk-/.test(screen), false, screen);
    assertEquals(JSON.parse(await Deno.readTextFile(`${home.dir}/home/config.json`)), {
      agent: { model: "server/fake" },
      providers: { server: { baseUrl: server.baseUrl, apiKey: "${secret:SERVER_API_KEY}" } },
    });
    assertEquals(await filesWith(home.dir, KEY), []);
    const answer = await home.run(["agent", "-m", "hi"]);
    assertEquals([answer.code, answer.stdout], [0, "Hello from the server\n"], answer.stderr);
  },
});

Deno.test({
  ...needs("Ctrl-C leaves nothing half done, wherever onboard is", "Linux", "script"),
  async fn() {
    await using server = startServer();
    const address = server.baseUrl;
    const steps: [string, string][] = [
      ["Number [6]:", "5\r"],
      ["Name or address", `${address}\r`],
      ["API key for", `${KEY}\r`],
      ["Folder that the agent works in", ""],
    ];
    for (let at = 0; at < steps.length; at++) {
      await using home = await makeHome();
      const [words] = steps[at]!;
      const { code, screen } = await type(home, [
        ...steps.slice(0, at),
        [words, "\x03"],
        ["Nothing was written", ""],
      ]);
      assertEquals(code, 130, screen);
      const entries = await Array.fromAsync(Deno.readDir(`${home.dir}/home`)).catch(() => []);
      assertEquals(entries.filter(({ isFile }) => isFile), [], screen);
      assertEquals(await filesWith(home.dir, KEY), []);
      assertEquals((await home.run(["secrets", "list", "--json"])).stdout, "");
    }
  },
});

Deno.test("onboard --yes leaves a home that works in the next shell", async () => {
  await using server = startServer();
  await using home = await makeHome();
  const args = ["onboard", "--yes", "--json", "--provider", "gpu", "--base-url", server.baseUrl];
  const { code, stdout, stderr } = await home.run([...args, "--key-env", "MY_KEY"], {
    env: { MY_KEY: KEY },
  });
  assertEquals(code, 0, stderr);
  const done = JSON.parse(stdout);
  assertEquals([done.outcome, done.model, done.secret, done.test.ok], [
    "written",
    "gpu/fake",
    "GPU_API_KEY",
    true,
  ]);
  // Without that variable.
  const answer = await home.run(["agent", "-m", "hi"]);
  assertEquals([answer.code, answer.stdout], [0, "Hello from the server\n"], answer.stderr);
  assertEquals((await home.run(["config", "check"])).code, 0);
});

Deno.test("onboard --yes with a key that is refused exits with 4 and writes nothing", async () => {
  await using server = startServer();
  await using home = await makeHome();
  const args = [
    "onboard",
    "--yes",
    "--provider",
    "gpu",
    "--base-url",
    server.baseUrl,
    "--key-stdin",
  ];
  const refused = await home.run(args, { stdin: "sk-another-key\n" });
  assertEquals([refused.code, refused.stdout], [4, ""]);
  assertStringIncludes(refused.stderr, "error: gpu refused the key. Check that you copied all");
  assertStringIncludes(refused.stderr, "Nothing was written. To write it anyway, add --no-test");
  const json = await home.run([...args, "--json", "--model", "none"], { stdin: `${KEY}\n` });
  assertEquals(json.code, 4);
  assertEquals(JSON.parse(json.stderr).error.code, "provider_error");
  assert(!await Deno.stat(`${home.dir}/home/config.json`).then(() => true, () => false));
  const untested = await home.run([...args, "--model", "none", "--no-test"], {
    stdin: "sk-another-key\n",
  });
  assertEquals(untested.code, 0, untested.stderr);
});

Deno.test("onboard's options are refused by name when they can't be", async () => {
  await using home = await makeHome();
  for (
    const [args, words] of [
      [["--provider", "opnai"], 'Unknown provider "opnai"; did you mean openai?'],
      [["--provider", "nobody"], "add its address with --base-url URL"],
      [["--provider", "https://a.example"], "--provider: expected a name"],
      [["--provider", "x", "--base-url", "gpu:8000"], "--base-url: expected an address"],
      [["--key-env", "NOT_SET"], "--key-env: NOT_SET isn't set in this shell"],
      [["--key-env", "sk-key.1"], "--key-env: expected the name of an environment variable"],
      [["--key-env", "A", "--key-stdin"], "both name the key"],
      [["--key-stdin"], "--key-stdin: standard input is empty"],
      [["--model", "m"], "--provider NAME"],
    ] as const
  ) {
    const { code, stderr } = await home.run(["onboard", "--yes", ...args], { stdin: "" });
    assertEquals(code, 2, stderr);
    assertStringIncludes(stderr, words);
    assertEquals(stderr.includes("sk-key"), false);
  }
});
