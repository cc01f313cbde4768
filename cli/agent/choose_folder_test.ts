import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { Projects } from "../../lib/authority/projects.ts";
import { ServiceError } from "../../lib/base/errors.ts";
import { tempHome } from "../../lib/config/testing/temp_home.ts";
import { chooseFolder } from "./choose_folder.ts";

/** A user's folders, and choosing from one of them. */
async function setUp() {
  const home = await tempHome();
  const paths = { ...home.paths, home: await Deno.realPath(home.paths.home) };
  const root = `${await Deno.realPath(await Deno.makeTempDir())}`;
  await Deno.mkdir(`${root}/site/.git`, { recursive: true });
  await Deno.mkdir(`${root}/site/src`);
  const projects = new Projects(paths);
  const asked: string[] = [];
  const notes: string[] = [];
  const choose = (cwd: string, { dir, answer }: { dir?: string; answer?: boolean } = {}) =>
    chooseFolder({
      ...{ projects, paths, cwd, dir },
      workspace: () => Promise.resolve(paths.workspace),
      confirm: answer === undefined ? undefined : (folder) => {
        asked.push(folder);
        return Promise.resolve(answer);
      },
      note: (text) => notes.push(text),
    });
  return {
    ...{ root, paths, projects, asked, notes, choose },
    async [Symbol.asyncDispose]() {
      await Deno.remove(root, { recursive: true });
      await home[Symbol.asyncDispose]();
    },
  };
}

Deno.test("chooseFolder() asks once about the repository around the current folder", async () => {
  await using user = await setUp();
  const { root, choose, asked } = user;
  assertEquals(await choose(`${root}/site/src`, { answer: true }), `${root}/site`);
  assertEquals(await choose(`${root}/site/src`, { answer: true }), `${root}/site`);
  assertEquals(await choose(`${root}/site`), `${root}/site`);
  assertEquals(asked, [`${root}/site`]);
});

Deno.test("chooseFolder() remembers a no, says how to change it, and asks again for -C", async () => {
  await using user = await setUp();
  const { root, choose, asked, notes } = user;
  assertEquals(await choose(`${root}/site`, { answer: false }), undefined);
  assertStringIncludes(notes[0]!, `service projects allow ${root}/site`);
  assertEquals(await choose(`${root}/site/src`, { answer: true }), undefined);
  assertEquals(asked.length, 1);
  assertEquals(await choose("/", { dir: `${root}/site`, answer: true }), `${root}/site`);
  assertEquals(asked.length, 2);
});

Deno.test("chooseFolder() takes the workspace where nobody can be asked, and refuses -C", async () => {
  await using user = await setUp();
  const { root, paths, choose, projects } = user;
  assertEquals(await choose(`${root}/site`), undefined);
  const refused = await assertRejects(
    () => choose("/", { dir: `${root}/site` }),
    ServiceError,
    `service projects allow ${root}/site`,
  );
  assertEquals(refused.code, "refused");
  assertEquals(await projects.list(), []);
  // The workspace needs nobody's word.
  await Deno.mkdir(paths.workspace, { recursive: true });
  assertEquals(await choose("/", { dir: paths.workspace }), undefined);
  assertEquals(await choose(`${root}/gone`), undefined);
});

Deno.test("chooseFolder() asks about no folder that can be no project", async () => {
  await using user = await setUp();
  const { root, paths, choose, asked } = user;
  for (const folder of ["/", "/etc", "/usr", paths.home, paths.userHome]) {
    assertEquals(await choose(folder, { answer: true }), undefined, folder);
    const error = await assertRejects(
      () => choose("/", { dir: folder, answer: true }),
      ServiceError,
      "Cannot work in",
    );
    assertEquals(error.code, "usage");
  }
  await assertRejects(() => choose(root, { dir: `${root}/none` }), ServiceError, "no folder");
  await Deno.writeTextFile(`${root}/file`, "");
  await assertRejects(() => choose(root, { dir: `${root}/file` }), ServiceError, "no folder");
  assertEquals(asked, []);
});
