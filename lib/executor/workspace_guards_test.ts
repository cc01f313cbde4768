import { assertEquals, assertStringIncludes } from "@std/assert";
import { findGuards, type Guard, type GuardOptions } from "./workspace_guards.ts";

/** A workspace of files, each with its path as content; a name that ends in a slash is a folder. */
async function withFiles(
  files: readonly string[],
  test: (
    find: (more?: Partial<GuardOptions>) => Promise<string[] | string>,
    workspace: string,
  ) => Promise<void>,
): Promise<void> {
  const workspace = await Deno.realPath(await Deno.makeTempDir());
  try {
    for (const file of files) {
      await Deno.mkdir(`${workspace}/${file}/..`.replace(/[^/]+\/\.\.$/, ""), { recursive: true });
      if (file.endsWith("/")) await Deno.mkdir(`${workspace}/${file}`, { recursive: true });
      else await Deno.writeTextFile(`${workspace}/${file}`, file);
    }
    const show = ({ path, how }: Guard) => `${how} ${path.slice(workspace.length + 1)}`;
    await test(async (more = {}) => {
      const found = await findGuards({ workspace, hidden: [], readOnly: [], ...more });
      return "problem" in found ? found.problem : found.guards.map(show);
    }, workspace);
  } finally {
    await Deno.remove(workspace, { recursive: true });
  }
}

Deno.test("findGuards() hides credentials, guards what others obey, and pins the way to both", () =>
  withFiles([
    "README.md",
    ".env",
    ".env.example",
    "src/credentials/index.ts",
    "src/deep/server.key",
    ".ssh/id_rsa",
    ".ssh/config",
    "sub/AGENTS.md",
    "sub/.envrc",
    ".git/HEAD",
    ".git/config",
    ".git/hooks/pre-commit",
    ".git/objects/ab/x.pem",
    ".git/modules/m/HEAD",
    ".git/modules/m/config",
    ".git/refs/heads/x.pem",
    ".git/index",
    ".git/commondir",
    ".git/worktrees/t/HEAD",
    ".git/worktrees/t/gitdir",
    "bare/HEAD",
    "bare/config",
    "plain/config",
    "plain/HEADER",
  ], async (find) => {
    assertEquals(await find(), [
      "hideFile .env",
      "pin .git",
      "readOnly .git/commondir",
      "readOnly .git/config",
      "readOnly .git/hooks",
      "pin .git/modules",
      "pin .git/modules/m",
      "readOnly .git/modules/m/config",
      "hideFolder .ssh",
      "pin bare",
      "readOnly bare/config",
      "pin src",
      "pin src/deep",
      "hideFile src/deep/server.key",
      "pin sub",
      "readOnly sub/.envrc",
      "readOnly sub/AGENTS.md",
    ]);
  }));

Deno.test("findGuards() holds what a configuration names, and hides credentials in there too", () =>
  withFiles([
    ".git/HEAD",
    "tools/hooks/keys/x.pem",
    "tools/clean.sh",
    "more.cfg",
    "src/a",
  ], async (find, workspace) => {
    await Deno.writeTextFile(
      `${workspace}/.git/config`,
      `[core]\n\thooksPath = tools/hooks\n[filter "x"]\n\tclean = "sh ./tools/clean.sh %f"\n` +
        `[include]\n\tpath = ../more.cfg\n[remote "o"]\n\turl = ./src\n`,
    );
    assertEquals(await find(), [
      "pin .git",
      "readOnly .git/config",
      "readOnly more.cfg",
      "pin tools",
      "readOnly tools/clean.sh",
      "readOnly tools/hooks",
      "hideFile tools/hooks/keys/x.pem",
    ]);
  }));

Deno.test("findGuards() holds whole folders where there is much in them", () =>
  withFiles([
    ...[1, 2, 3, 4, 5].map((at) => `many/${at}.pem`),
    ...[1, 2, 3].map((at) => `deep/${at}/.envrc`),
    "one/x.key",
  ], async (find) => {
    assertEquals((await find({ maxGuards: 12 })).slice(-2), ["pin one", "hideFile one/x.key"]);
    assertEquals(await find({ maxGuards: 5 }), [
      "readOnly deep",
      "hideFolder many",
      "pin one",
      "hideFile one/x.key",
    ]);
    assertEquals(await find({ maxGuards: 3 }), [
      "readOnly deep",
      "hideFolder many",
      "hideFolder one",
    ]);
    assertStringIncludes(String(await find({ maxGuards: 2 })), "more than 2");
  }));

Deno.test("findGuards() finds every name of a credential file, links too", () =>
  withFiles(["a/key.pem", "b/notes.txt", "c/"], async (find, workspace) => {
    await Deno.remove(`${workspace}/b/notes.txt`);
    await Deno.link(`${workspace}/a/key.pem`, `${workspace}/b/notes.txt`);
    await Deno.writeTextFile(`${workspace}/c/plain`, "x");
    await Deno.symlink("c/plain", `${workspace}/.npmrc`);
    await Deno.symlink("/etc/hostname", `${workspace}/other.key`);
    assertEquals(await find(), [
      "pin a",
      "hideFile a/key.pem",
      "pin b",
      "hideFile b/notes.txt",
      "pin c",
      "hideFile c/plain",
    ]);
  }));

Deno.test("findGuards() hides the service's own places, and keeps its program from being written", () =>
  withFiles(["home/keys/audit", "home/config.json", "app/lib/main.ts"], async (find, workspace) => {
    const found = await find({
      hidden: [
        `${workspace}/home/keys`,
        `${workspace}/home/config.json`,
        workspace,
        "/etc/hostname",
      ],
      readOnly: [`${workspace}/app`],
    });
    assertEquals(found, [
      "readOnly app",
      "pin home",
      "hideFile home/config.json",
      "hideFolder home/keys",
    ]);
  }));

Deno.test("findGuards() says what it cannot hold", () =>
  withFiles(["a/one", "a/two", "real.md"], async (find, workspace) => {
    const problem = async (more?: Partial<GuardOptions>) => String(await find(more));
    assertStringIncludes(await problem({ timeoutMs: -1 }), "took too long");
    await Deno.symlink("real.md", `${workspace}/AGENTS.md`);
    assertStringIncludes(await problem(), 'AGENTS.md" is a link');
    await Deno.remove(`${workspace}/AGENTS.md`);
    await Deno.mkdir(`${workspace}/.git`);
    await Deno.symlink("../a", `${workspace}/.git/hooks`);
    assertStringIncludes(await problem(), 'hooks" is a link');
    await Deno.remove(`${workspace}/.git/hooks`);
  }));
