import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { batchesOf, type TestFile } from "./find_tests.ts";
import { type BatchResult, runBatch } from "./run_batch.ts";
import { runTests } from "./run_tests.ts";

const ROOT = new URL("../../", import.meta.url).pathname;

/** Runs test files of these sources, each as a batch, and gives what came of each. */
async function runSources(
  sources: Record<string, string>,
  options: { jobs?: number; silenceMs?: number } = {},
): Promise<Map<string, BatchResult>> {
  const folder = await Deno.makeTempDir();
  try {
    const results = new Map<string, BatchResult>();
    for (const [name, source] of Object.entries(sources)) {
      await Deno.writeTextFile(`${folder}/${name}_test.ts`, source);
    }
    await runTests(Object.keys(sources).map((name) => [`${folder}/${name}_test.ts`]), {
      root: ROOT,
      jobs: 1,
      env: {},
      onResult: ([file], result) => results.set(file!.slice(folder.length + 1, -8), result),
      ...options,
    });
    return results;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

const outcomes = (result: BatchResult) => result.cases.map(({ outcome }) => outcome);

Deno.test("runTests() tells what passed, failed and was skipped, with what a failure printed", async () => {
  const results = await runSources({
    good: 'Deno.test("a", () => {}); Deno.test({ name: "b", ignore: true, fn() {} });',
    bad: 'Deno.test("a", () => { throw new Error("wrong here"); }); Deno.test("b", () => {});',
    broken: 'import "./nothing.ts";',
  });
  const [good, bad, broken] = ["good", "bad", "broken"].map((name) => results.get(name)!);
  assertEquals([outcomes(good!), good!.failure], [["passed", "skipped"], undefined]);
  assert(good!.durationMs > 0);
  assertEquals(outcomes(bad!), ["failed", "passed"]);
  assertStringIncludes(bad!.failure!, "wrong here");
  assertEquals(outcomes(broken!), []);
  assertStringIncludes(broken!.failure!, "nothing.ts");
});

Deno.test("runTests() ends a process that hangs, and says so", async () => {
  const hangs =
    'Deno.test("a", () => {}); Deno.test("b", () => new Promise(() => setInterval(() => {}, 9)));';
  const result = (await runSources({ hangs }, { silenceMs: 1_500 })).get("hangs")!;
  assertStringIncludes(result.failure!, "Nothing was printed for 1.5 s");
});

Deno.test("runTests() runs as many batches at once as it may", async () => {
  const meet = (own: string, other: string) =>
    `Deno.test("meets", async () => {
       const at = (name: string) => new URL(name, import.meta.url);
       await Deno.writeTextFile(at("${own}"), "");
       while (!await Deno.stat(at("${other}")).then(() => true, () => false)) {
         await new Promise((resolve) => setTimeout(resolve, 20));
       }
     });`;
  const results = await runSources({ one: meet("a", "b"), two: meet("b", "a") }, { jobs: 2 });
  assertEquals([...results.values()].map(({ failure }) => failure), [undefined, undefined]);
});

Deno.test("runTests() tells the tests of each file of a batch apart", async () => {
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${folder}/a_test.ts`, 'Deno.test("a", () => {});');
    await Deno.writeTextFile(
      `${folder}/b_test.ts`,
      'Deno.test("b", () => { throw new Error("no"); });',
    );
    const { cases } = await runBatch([`${folder}/a_test.ts`, `${folder}/b_test.ts`], {
      root: ROOT,
      env: {},
    });
    assertEquals(cases.map(({ name, file }) => [name, file.split("/").at(-1)]), [
      ["a", "a_test.ts"],
      ["b", "b_test.ts"],
    ]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("batchesOf() puts every file into one batch, and what takes long first", () => {
  const file = (path: string, cost: TestFile["cost"], chars = 1) => ({ path, cost, chars });
  const quick = Array.from({ length: 72 }, (_, at) => file(`lib/${at}_test.ts`, "quick"));
  const slow = Array.from({ length: 5 }, (_, at) => file(`lib/slow_${at}_test.ts`, "slow"));
  const batches = batchesOf([
    ...quick,
    ...slow,
    file("tests/a_test.ts", "whole", 2),
    file("tests/b_test.ts", "whole", 3),
  ]);
  assertEquals(batches[0], ["tests/b_test.ts", "tests/a_test.ts"]);
  assertEquals(batches.map(({ length }) => length), [2, 4, 1, 64, 8]);
  assertEquals(batches.slice(1).flat(), [...slow, ...quick].map(({ path }) => path));
});
