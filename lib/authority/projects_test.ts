import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { ServiceError } from "../base/errors.ts";
import { Projects } from "./projects.ts";

/** The projects of a home in a new folder. */
async function setUp() {
  const root = await Deno.realPath(await Deno.makeTempDir());
  const paths = {
    home: `${root}/user/.service`,
    userHome: `${root}/user`,
    configFile: `${root}/etc/config.json`,
    socketDir: `${root}/user/.service/run`,
    projectsFile: `${root}/user/.service/projects.json`,
  };
  const workspace = `${root}/user/code/ws`;
  for (const folder of [paths.home, workspace, `${root}/etc`, `${root}/user/code/site/src`]) {
    await Deno.mkdir(folder, { recursive: true });
  }
  return {
    ...{ root, paths, workspace },
    site: `${root}/user/code/site`,
    projects: new Projects(paths),
    [Symbol.asyncDispose]: () => Deno.remove(root, { recursive: true }),
  };
}

Deno.test("Projects remembers what was decided in a file for its owner alone", async () => {
  await using home = await setUp();
  const { projects, site, workspace, paths, root } = home;
  assertEquals(await projects.list(), []);
  await Deno.remove(paths.home);
  await projects.decide(site, true, workspace);
  await projects.decide(`${root}/user/code/other`, false, workspace);
  assertEquals((await Deno.stat(paths.projectsFile)).mode! & 0o777, 0o600);
  const again = new Projects(paths);
  assertEquals((await again.list()).map(({ folder, allowed }) => [folder, allowed]), [
    [`${root}/user/code/other`, false],
    [site, true],
  ]);
  assertEquals((await again.find(`${site}/src`))?.folder, site);
  assertEquals(await again.find(`${site}-2`), undefined);
  await again.check(site, workspace);
  await assertRejects(() => again.check(`${site}/src`, workspace), ServiceError, "may not work");
  assertEquals([await again.forget(site), await again.forget(site)], [true, false]);
  await assertRejects(() => again.check(site, workspace), ServiceError, "may not work");
});

Deno.test("Projects loses no decision of two that are made at once", async () => {
  await using home = await setUp();
  const { paths, workspace, root } = home;
  const folders = Array.from({ length: 8 }, (_, n) => `${root}/user/code/p${n}`);
  await Promise.all(folders.map((each) => new Projects(paths).decide(each, true, workspace)));
  assertEquals((await home.projects.list()).map(({ folder }) => folder), folders.sort());
});

Deno.test("Projects allows no folder that holds the service's own, the home, the system or another project", async () => {
  await using home = await setUp();
  const { projects, site, workspace, paths, root } = home;
  await projects.decide(site, true, workspace);
  const sources = new URL("../", import.meta.url).pathname.replace(/\/$/, "");
  for (
    const [folder, reason] of [
      ["/", "home folder"],
      [root, "home folder"],
      [paths.userHome, "home folder"],
      ["/etc/service", "system folder"],
      ["/usr", "system folder"],
      ["/home", "system folder"],
      // Often a link to /usr/bin.
      [await Deno.realPath("/bin"), "system folder"],
      [paths.home, "the service's own"],
      [`${paths.home}/workspace`, "the service's own"],
      [`${root}/etc`, "the service's own"],
      [`${root}/user/.ssh`, "keys and passwords"],
      [sources, "the program's own"],
      [`${root}/user/code`, "the workspace"],
      [`${workspace}/site`, "the workspace"],
      [`${root}/user/a\nb`, "hidden characters"],
      [`${site}/src`, "allowed already"],
    ] as const
  ) {
    const error = await assertRejects(
      () => projects.decide(folder, true, workspace),
      ServiceError,
      reason,
    );
    // Its hint would be about the configuration otherwise.
    assertEquals(error.code, "invalid_request", folder);
  }
  assertEquals((await projects.list()).length, 1);
});

Deno.test("Projects refuses a file that is damaged, and says what to do", async () => {
  await using home = await setUp();
  const { projects, paths, site, workspace } = home;
  for (const text of ["", "{", "null", "{}", '{"projects":[1]}', '{"projects":[{"folder":1}]}']) {
    await Deno.writeTextFile(paths.projectsFile, text);
    const error = await assertRejects(() => projects.check(site, workspace), ServiceError);
    assertEquals(error.code, "config_invalid", text);
    assertStringIncludes(error.message, "Delete it");
  }
});
