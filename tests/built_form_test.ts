/** The built form, as `deno task build` leaves it. */

import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { dirname } from "@std/path";
import { VERSION } from "../cli/version.ts";
import { findOwnDenoDir } from "../lib/packages/deno_dir.ts";
import { packageFolder, registriesIn } from "../lib/packages/missing_packages.ts";
import { build, filesIn, makeBuilt } from "./support/built_form.ts";
import { needs } from "./support/needs.ts";
import { FULL_RUN } from "./support/rounds.ts";

Deno.test({
  ...needs(
    "the built form runs from any folder, without the sources and without a package, and holds nothing under the GPL",
    "sh",
  ),
  async fn() {
    const dir = await Deno.realPath(await Deno.makeTempDir());
    try {
      // Folder names that a shell, a URL or a list of permissions might trip over.
      const folder = `${dir}/some lib/of it/dist`;
      await makeBuilt(folder);
      await Deno.symlink(`${folder}/service`, `${dir}/service`);
      const service = async (...args: string[]) => {
        const { code, stdout, stderr } = await new Deno.Command(`${dir}/service`, {
          args,
          cwd: dir,
          clearEnv: true,
          env: {
            HOME: dir,
            SERVICE_HOME: `${dir}/home`,
            // No package is there.
            DENO_DIR: `${dir}/deno`,
            PATH: `${dirname(Deno.execPath())}:/usr/bin:/bin`,
          },
        }).output();
        const decoder = new TextDecoder();
        assertEquals(code, 0, decoder.decode(stderr));
        return decoder.decode(stdout);
      };
      assertEquals(await service("--version"), `service ${VERSION}\n`);
      assertMatch(await service("agent", "-m", "hi"), /offline/);
      await Deno.mkdir(`${dir}/home/workspace`, { recursive: true });
      await Deno.writeTextFile(`${dir}/home/workspace/a.txt`, "what stands in it");
      assertMatch(
        await service("agent", "-m", '/tool read_file {"path":"a.txt"}'),
        /what stands in it/,
      );
      assertMatch(await service("plugins", "list"), /telegram/);
      // The bundler says of each module where it is from.
      const packages = await packagesIn(folder);
      assert(packages.includes("zod") && packages.includes("grammy"), packages.join(" "));
      // Whoever passes it on would be bound by that: see `NOT_BUNDLED`.
      assertEquals(packages.filter((name) => name.includes("GPL")), []);
    } finally {
      await Deno.remove(dir, { recursive: true });
    }
  },
});

/** Names of packages in the files, with the licence where it is no choice of others. */
async function packagesIn(folder: string): Promise<string[]> {
  const registries = registriesIn(findOwnDenoDir((name) => Deno.env.get(name))!);
  const found = new Map<string, string>();
  for (const path of await filesIn(folder)) {
    if (!path.endsWith(".js")) continue;
    const text = await Deno.readTextFile(path);
    for (const [, name, version] of text.matchAll(MODULE)) found.set(`${name}@${version}`, name!);
  }
  return [...found].map(([id, name]) => {
    const { license } = JSON.parse(
      Deno.readTextFileSync(`${packageFolder(id, registries)}/package.json`),
    );
    const text = JSON.stringify(license ?? "");
    return /GPL/i.test(text) && !/ OR /.test(text) ? `${name} (${text})` : name;
  });
}

/** A comment with the path of a module in Deno's cache. */
const MODULE = /^\s*\/\/ \S*\/npm\/[^/\s]+\/((?:@[^/\s]+\/)?[^/\s]+)\/([^/\s]+)\//gm;

Deno.test({
  ...needs("a build takes the place of the one before, and leaves nothing else", FULL_RUN),
  async fn() {
    const dir = await Deno.makeTempDir();
    try {
      await build(`${dir}/dist`);
      const before = await filesIn(`${dir}/dist`);
      await Deno.writeTextFile(`${dir}/dist/older.js`, "");
      await build(`${dir}/dist`);
      assertEquals((await filesIn(`${dir}/dist`)).toSorted(), before.toSorted());
      assertEquals([...Deno.readDirSync(dir)].map(({ name }) => name), ["dist"]);
    } finally {
      await Deno.remove(dir, { recursive: true });
    }
  },
});

Deno.test("a build removes nothing but an earlier build", async () => {
  const dir = await Deno.makeTempDir();
  try {
    // What a build leaves has these names too.
    await Deno.writeTextFile(`${dir}/service`, "#!/bin/sh\nexec deno run main.ts\n");
    await Deno.writeTextFile(`${dir}/deno.json`, "{}");
    const error = await assertRejects(() => build(dir), Error);
    assertStringIncludes(error.message, "and is no earlier build");
    assertEquals((await filesIn(dir)).toSorted(), [`${dir}/deno.json`, `${dir}/service`]);
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
});
