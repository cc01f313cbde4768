import { assertEquals, assertStringIncludes } from "@std/assert";
import { examine } from "./examine.ts";
import { isLoopbackHost } from "../base/loopback_host.ts";
import { formatProblem } from "../config/problem.ts";
import { tempHome } from "../config/testing/temp_home.ts";

/** Problems of a configuration, without their lines. */
async function problems(
  config: (root: string) => unknown,
  prepare: (root: string) => Promise<void> = async () => {},
): Promise<string[]> {
  await using home = await tempHome({}, "conf/config.json");
  await prepare(home.root);
  const text = JSON.stringify(config(home.root));
  return examine({ ...home, text }).problems.map(formatProblem)
    .map((each) => each.replace(/ \(line \d+\)/, "").replaceAll(home.root, "ROOT"));
}

for (const host of ["127.0.0.1", "127.8.8.8", "localhost", "::1"]) {
  Deno.test(`isLoopbackHost() knows ${host}`, () => assertEquals(isLoopbackHost(host), true));
}

for (const host of ["0.0.0.0", "::", "192.168.1.2", "127.0.0.1.example", "example.com", "::2"]) {
  Deno.test(`crossCheck() refuses ${host} without a key, and takes it with one`, async () => {
    assertEquals(await problems(() => ({ api: { host } })), [
      `api.host: "${host}" can be reached from other machines, so api.apiKey has to be set`,
    ]);
    assertEquals(await problems(() => ({ api: { host, apiKey: "k" } })), []);
  });
}

Deno.test("crossCheck() wants an IPv6 host without brackets", async () => {
  assertEquals(await problems(() => ({ api: { host: "[::1]" } })), [
    'api.host: "[::1]" has to stand without brackets',
  ]);
});

Deno.test("crossCheck() refuses a key that cannot stand in a header, without showing it", async () => {
  const [problem] = await problems(() => ({ api: { apiKey: "schlüssel" } }));
  assertEquals(problem, "api.apiKey: the key holds blanks or letters beyond ASCII");
});

Deno.test("crossCheck() does not report twice what is wrong already", async () => {
  assertEquals(await problems(() => ({ api: { host: "0.0.0.0", apiKey: 5 } })), [
    "api.apiKey: a number is not text",
  ]);
  assertEquals(await problems(() => ({ providers: { A: {} }, agent: { model: "A/x" } })), [
    "providers.A: the name is not a provider's name: a-z, 0-9, _ and -",
  ]);
});

Deno.test("crossCheck() wants models of providers that there are", async () => {
  assertEquals(
    await problems(() => ({
      agent: {
        model: "gpt",
        fallbacks: ["openai/gpt", "offline", "mine/a/b", "other/x"],
        preset: "fest",
        presets: { fast: { model: "nobody/x" } },
      },
      providers: { mine: {} },
    })),
    [
      'agent.model: "gpt" is neither <provider>/<model id> nor offline',
      'agent.fallbacks[3]: "other/x" names the provider "other", ' +
      'which is not one of "mine", "openai", "anthropic"',
      'agent.preset: "fest" is not a name in agent.presets; did you mean "fast"?',
      'agent.presets.fast.model: "nobody/x" names the provider "nobody", ' +
      'which is not one of "mine", "openai", "anthropic"',
    ],
  );
});

const workspace = (path: (root: string) => string) => (root: string) => ({
  agent: { workspace: path(root) },
});

for (
  const [name, path, reason] of [
    ["the home", (root) => `${root}/home`, "contains the service's data folder"],
    ["a folder around it", () => "~/", "contains the service's data folder"],
    ["the whole machine", () => "/", "contains the service's data folder"],
    ["the data folder", (root) => `${root}/home/data`, "contains the service's data folder"],
    ["a folder in the keys", (root) => `${root}/home/keys/x`, "is inside of the service's key"],
    ["a folder in run", (root) => `${root}/home/x/../run/y`, "is inside of the service's run"],
    ["the folder of the file", (root) => `${root}/conf`, "contains the service's configuration"],
    ["a relative path", () => "work", "is no absolute path; begin it with / or ~/"],
  ] satisfies [string, (root: string) => string, string][]
) {
  Deno.test(`crossCheck() refuses a workspace that is ${name}`, async () => {
    const found = await problems(workspace(path));
    assertEquals(found.length, 1);
    assertStringIncludes(found[0]!, "agent.workspace: ");
    assertStringIncludes(found[0]!, reason);
  });
}

for (const path of ["~/work", "~/home/workspace", "~/home2", "~/homestead/data"]) {
  Deno.test(`crossCheck() takes the workspace ${path}`, async () => {
    assertEquals(await problems(workspace(() => path)), []);
  });
}

Deno.test("crossCheck() judges a workspace by where its links lead", async () => {
  const link = (to: string) => (root: string) => Deno.symlink(`${root}/${to}`, `${root}/link`);
  const [found] = await problems(workspace((root) => `${root}/link`), link("home"));
  assertStringIncludes(found!, "contains the service's data folder");
  const inside = await problems(workspace((root) => `${root}/link/data/x`), link("home"));
  assertStringIncludes(inside[0]!, "is inside of the service's data folder");
  assertEquals(await problems(workspace((root) => `${root}/link`), link("elsewhere")), []);
});

Deno.test("crossCheck() refuses a workspace that holds what the configuration file links to", async () => {
  const found = await problems(workspace((root) => `${root}/work`), async (root) => {
    await Deno.mkdir(`${root}/work`);
    await Deno.mkdir(`${root}/conf`);
    await Deno.writeTextFile(`${root}/work/dotfile.json`, "{}");
    await Deno.symlink(`${root}/work/dotfile.json`, `${root}/conf/config.json`);
  });
  assertStringIncludes(found[0]!, "contains the service's configuration");
});

Deno.test("crossCheck() names a workspace whose path leads through a file", async () => {
  const found = await problems(
    workspace((root) => `${root}/file/work`),
    (root) => Deno.writeTextFile(`${root}/file`, ""),
  );
  assertStringIncludes(found[0]!, 'agent.workspace: "ROOT/file/work" cannot be used: ');
});

Deno.test("crossCheck() gives the workspace as an absolute path", async () => {
  await using home = await tempHome();
  const { config } = examine({ ...home, text: '{"agent":{"workspace":"~/a/../b/"}}' });
  assertEquals(config!.agent.workspace, `${home.root}/b`);
});

Deno.test("crossCheck() wants the audit's mirror out of reach of what it guards against", async () => {
  const mirror = (at: (root: string) => string) =>
    problems((root) => ({ audit: { mirror: at(root) }, agent: { workspace: `${root}/work` } }));
  assertEquals(await mirror((root) => `${root}/elsewhere/checkpoints`), []);
  assertEquals(await mirror(() => ""), []);
  assertEquals(await mirror(() => "checkpoints"), [
    'audit.mirror: "checkpoints" is no absolute path; begin it with / or ~/',
  ]);
  const [inWorkspace] = await mirror((root) => `${root}/work/a/../m`);
  assertStringIncludes(inWorkspace!, "is inside of the workspace, where the agent can write");
  await using home = await tempHome({}, "conf/config.json");
  const text = JSON.stringify({ audit: { mirror: `${home.paths.home}/data/m` } });
  const [inHome] = examine({ ...home, text }).problems.map(formatProblem);
  assertStringIncludes(inHome!, "which it is to outlast");
  const strict = examine({ ...home, text: '{"audit":{"mirrors":"/m"}}' }).problems;
  assertEquals(strict.length, 1);
});

Deno.test("crossCheck() refuses a transcription that could not be asked, and repeats nothing of the key", async () => {
  const found = (transcription: object) => problems(() => ({ transcription }));
  assertEquals(await found({ enabled: true, apiKey: "k" }), []);
  assertEquals(await found({ baseUrl: "https://me:pw@w.example/v1" }), [
    "transcription.baseUrl: it holds a user name or a password; the key stands in transcription.apiKey",
  ]);
  assertEquals(await found({ apiKey: "a key" }), [
    "transcription.apiKey: the key holds blanks or letters beyond ASCII, which no header can hold",
  ]);
  const broken = await found({ baseUrl: "whisper", apiKey: "k" });
  assertEquals(broken.length, 1);
  assertStringIncludes(broken[0]!, "transcription.baseUrl");
});
