import { assertEquals, assertRejects } from "@std/assert";
import { Projects } from "../../lib/authority/projects.ts";
import { ServiceError } from "../../lib/base/errors.ts";
import { tempHome } from "../../lib/config/testing/temp_home.ts";
import { parseCommand, parseHead } from "../parse.ts";
import { memoryOutput } from "../testing/memory_output.ts";
import command, { runProjects } from "./projects.ts";

Deno.test("projects forget takes back a folder that was removed, or that a link has taken the place of", async () => {
  await using home = await tempHome();
  const root = await Deno.realPath(home.root);
  const projects = new Projects(home.paths);
  const run = (...line: string[]) => {
    const parsed = parseCommand("projects", command, parseHead(["projects", ...line]));
    const { out } = memoryOutput();
    return runProjects({ ...parsed, out }, {
      projects,
      cwd: root,
      workspace: () => Promise.resolve(home.paths.workspace),
    });
  };
  for (const name of ["gone", "moved", "other"]) await Deno.mkdir(`${root}/${name}`);
  for (const name of ["gone", "moved"]) await run("allow", name);
  for (const name of ["gone", "moved"]) await Deno.remove(`${root}/${name}`);
  await Deno.symlink(`${root}/other`, `${root}/moved`);
  await run("forget", "gone");
  await run("forget", "moved");
  assertEquals(await projects.list(), []);
  await assertRejects(() => run("forget", "moved"), ServiceError, "Nothing is remembered");
});
