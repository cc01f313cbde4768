import { assertEquals, assertRejects } from "@std/assert";
import { dirname, join } from "@std/path";
import { importsOf } from "../support/module_graph.ts";
import { needs } from "../support/needs.ts";
import { changedSince, reachedTests } from "./changed_tests.ts";

/** Modules from their sources. */
function graph(sources: Record<string, string>) {
  return new Map(
    Object.entries(sources).map(([path, source]) => {
      const imports = importsOf(source).map((one) => ({
        ...one,
        resolved: join(dirname(path), one.specifier),
      }));
      return [path, { path, source, imports }];
    }),
  );
}

const MODULES = graph({
  "lib/a.ts": 'import type { B } from "./b.ts";\n',
  "lib/b.ts": "export interface B {}\n",
  "lib/a_test.ts": 'import { a } from "./a.ts";\n',
  "lib/c_test.ts": "export {};\n",
  "channels/mod.ts": 'const runtime = new URL("./x/runtime.ts", import.meta.url);\n',
  "channels/x/runtime.ts": 'import { text } from "./text/text.ts";\n',
  "channels/x/text/text.ts": "export const text = 1;\n",
  "channels/x/text/text_test.ts": 'import { text } from "./text.ts";\n',
  "channels/x/conformance_test.ts": 'const folder = new URL("./", import.meta.url);\n',
  "channels/y/runtime.ts": "export {};\n",
  "tests/support/home.ts": 'const args = [`${root}cli/main.ts`];\nimport "../../lib/b.ts";\n',
  "tests/whole_test.ts": 'import { makeHome } from "./support/home.ts";\n',
  "tests/docs_test.ts": 'await Deno.readTextFile("docs/page.md");\n',
  "cli/main.ts": 'import { CHANNELS } from "../channels/mod.ts";\n',
});
const reached = (...changed: string[]) => reachedTests(MODULES, changed);

Deno.test("reachedTests() follows imports at any distance, those of types too", () => {
  assertEquals(reached("lib/b.ts"), ["lib/a_test.ts", "tests/whole_test.ts"]);
  assertEquals(reached("lib/a.ts"), ["lib/a_test.ts"]);
  assertEquals(reached("lib/c_test.ts"), ["lib/c_test.ts"]);
});

Deno.test("reachedTests() follows programs and files that test code names", () => {
  assertEquals(reached("cli/main.ts"), ["tests/whole_test.ts"]);
  assertEquals(reached("docs/page.md"), ["tests/docs_test.ts"]);
});

Deno.test("reachedTests() gives a channel's own tests for a change of its runtime, and no others", () => {
  assertEquals(reached("channels/x/text/text.ts"), [
    "channels/x/conformance_test.ts",
    "channels/x/text/text_test.ts",
  ]);
  assertEquals(reached("channels/x/runtime.ts"), ["channels/x/conformance_test.ts"]);
  assertEquals(reached("channels/y/runtime.ts"), []);
});

Deno.test("reachedTests() gives the nearest tests for a file that no module names", () => {
  assertEquals(reached("channels/x/text/golden/one.json"), ["channels/x/text/text_test.ts"]);
  assertEquals(reached("lib/gone.ts"), []);
});

Deno.test("reachedTests() gives all tests when what they run with has changed", () => {
  const all = [...MODULES.keys()].filter((path) => path.endsWith("_test.ts")).sort();
  assertEquals(reached("deno.lock"), all);
  assertEquals(reached("tests/run.ts"), all);
});

Deno.test(
  needs("changedSince() names what git has as changed and what it does not know yet", "git"),
  async () => {
    const root = await Deno.makeTempDir();
    try {
      const git = async (...args: string[]) => {
        const identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"];
        const { success } = await new Deno.Command("git", {
          args: [...identity, ...args],
          cwd: root,
        })
          .output();
        assertEquals(success, true, args.join(" "));
      };
      await git("init", "-q");
      for (const name of ["same", "changed", "gone", "old name"]) {
        await Deno.writeTextFile(`${root}/${name}`, "1");
      }
      await git("add", ".");
      await git("commit", "-qm", "one");
      await Deno.writeTextFile(`${root}/changed`, "2");
      await Deno.remove(`${root}/gone`);
      await Deno.rename(`${root}/old name`, `${root}/new\nname`);
      assertEquals((await changedSince(root, "HEAD")).sort(), [
        "changed",
        "gone",
        "new\nname",
        "old name",
      ]);
      await assertRejects(() => changedSince(root, "nothing"), Error, "nothing");
    } finally {
      await Deno.remove(root, { recursive: true });
    }
  },
);
