import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { toFileUrl } from "@std/path";
import { LineServer } from "../docs/examples/channel/line/line_server.ts";
import { checkChannel } from "../lib/channel/testing/mod.ts";
import { copyProject, copyTree } from "./support/project_copy.ts";

const EXAMPLE = new URL("../docs/examples/channel/line/", import.meta.url);
const PAGE = new URL("../docs/channels.md", import.meta.url);

/** What the kit says of the example when a text in one of its files is another. */
async function findingsWith(file: string, from: string, to: string, checks: string[]) {
  const home = await Deno.realPath(await Deno.makeTempDir({ prefix: "line-" }));
  try {
    await copyTree(EXAMPLE.pathname, `${home}/line`);
    const path = `${home}/line/${file}`;
    const text = await Deno.readTextFile(path);
    assertStringIncludes(text, from);
    await Deno.writeTextFile(path, text.replace(from, to));
    return await checkChannel({
      folder: toFileUrl(`${home}/line/`),
      openPlatform: () => Promise.resolve(new LineServer()),
      patienceMs: 3_000,
    }, checks);
  } finally {
    await Deno.remove(home, { recursive: true });
  }
}

Deno.test("place finds a channel whose manifest does not name the host that it connects to", async () => {
  assertEquals(await findingsWith("manifest.ts", "Line", "Line", ["place"]), []);
  const [finding] = await findingsWith("manifest.ts", '"{host}:{port}"', "", ["place"]);
  assertStringIncludes(finding!.message, "name under permissions what it reaches (");
  assertStringIncludes(finding!.message, "net access");
});

Deno.test("place finds a channel that reads a variable which its manifest does not name", async () => {
  const [finding] = await findingsWith(
    "runtime.ts",
    "const { signal } = this.#stopping;",
    'const { signal } = this.#stopping;\n    Deno.env.get("HOME");',
    ["place"],
  );
  assertStringIncludes(finding!.message, "env access");
});

Deno.test("testChannel() fails a channel that leaves a timer running, by Deno's own checks", async () => {
  await using project = await copyProject();
  await copyTree(EXAMPLE.pathname, `${project.root}channels/line`);
  const test = () =>
    project.deno(
      "test",
      "-A",
      "--cached-only",
      "--no-check",
      "--filter=stop_twice",
      "channels/line",
    )
      .then(() => "passed", (error: Error) => error.message);
  assertEquals(await test(), "passed");
  const runtime = `${project.root}channels/line/runtime.ts`;
  const text = await Deno.readTextFile(runtime);
  const login = "await this.#write(`login";
  assertStringIncludes(text, login);
  const leaking = text.replace(login, `setInterval(() => {}, 1_000);\n${login}`);
  await Deno.writeTextFile(runtime, leaking);
  assertStringIncludes(await test(), "An interval was started in this test, but never completed");
});

Deno.test("every piece of code in docs/channels.md stands in the example as it is there", async () => {
  const files: string[] = [];
  for await (const { name } of Deno.readDir(EXAMPLE)) {
    files.push(flush(await Deno.readTextFile(new URL(name, EXAMPLE))));
  }
  const page = await Deno.readTextFile(PAGE);
  const pieces = [...page.matchAll(/^```ts\n([^]*?)^```$/gm)].map(([, code]) => code!);
  assert(pieces.length >= 4);
  for (const piece of pieces) assert(files.some((text) => text.includes(flush(piece))), piece);
});

/** Without indentation: a page has none around its pieces. */
function flush(code: string): string {
  return code.replace(/^ +/gm, "");
}
