import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { VERSION } from "../cli/version.ts";
import { FULL_RUN } from "./support/rounds.ts";

const ROOT = new URL("../", import.meta.url);
const read = (path: string) => Deno.readTextFile(new URL(path, ROOT));
const manifest = JSON.parse(await read("deno.json"));
const mapped: Record<string, string> = JSON.parse(await read("imports.json")).imports;

Deno.test("deno publish --dry-run passes", async () => {
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    // The gate checks the types of everything beside the tests.
    args: ["publish", "--dry-run", "--allow-dirty", ...FULL_RUN.isThere ? [] : ["--no-check"]],
    cwd: ROOT,
  }).output();
  assert(success, new TextDecoder().decode(stderr));
});

Deno.test("the version is the same everywhere", async () => {
  assertEquals(VERSION, manifest.version);
  assertStringIncludes(await read("CHANGELOG.md"), `## ${manifest.version}`);
});

Deno.test("every task says what it is for, and the README's commands are the ones that CI runs", async () => {
  for (const [name, task] of Object.entries(manifest.tasks)) {
    assert((task as { description?: string }).description, `task ${name} has no description`);
  }
  const readme = await read("README.md");
  assertStringIncludes(readme, "npx -y deno@2.9.6 task start");
  assertStringIncludes(readme, "npx -y deno@2.9.6 task test");
  assertStringIncludes(await read(".ci/run"), "npx -y deno@2.9.6 task test ");
});

Deno.test("every dependency has its reason in docs/dependencies.md, in the version that is used", async () => {
  const rows = [...(await read("docs/dependencies.md")).matchAll(/^\| (\S+) +\| (\S+) +\| \S/gm)]
    .map(([, name, version]) => `${name} ${version}`);
  for (const target of Object.values(mapped)) {
    const found = target.match(/^npm:\/?(@?[^@]+)@([^/]+)\/?$/);
    if (found) assert(rows.includes(`${found[1]} ${found[2]}`), target);
  }
});
