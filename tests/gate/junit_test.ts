import { assertEquals } from "@std/assert";
import { readJunit } from "./junit.ts";

Deno.test("readJunit() reads what deno test writes of tests and steps, whatever their names hold", async () => {
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(
      `${folder}/a_test.ts`,
      `Deno.test('a <b> & "c" é', async (t) => { await t.step("in it", () => {}); });
       Deno.test({ name: "left out", ignore: true, fn() {} });
       Deno.test("fails", () => { throw new Error("</testcase><skipped/>"); });`,
    );
    await new Deno.Command(Deno.execPath(), {
      args: ["test", "--no-config", "--no-lock", `--junit-path=report.xml`, "a_test.ts"],
      cwd: folder,
      stdout: "null",
      stderr: "null",
    }).output();
    const file = "a_test.ts";
    assertEquals(readJunit(await Deno.readTextFile(`${folder}/report.xml`)), [
      { name: 'a <b> & "c" é', file, outcome: "passed" },
      { name: "left out", file, outcome: "skipped" },
      { name: "fails", file, outcome: "failed" },
      { name: 'a <b> & "c" é > in it', file, outcome: "passed" },
    ]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
