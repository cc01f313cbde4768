/** The built form, as `deno task build` leaves it. */

import { assert, assertEquals, assertMatch } from "@std/assert";
import { dirname } from "@std/path";
import { VERSION } from "../cli/version.ts";
import { ROOT } from "./support/home.ts";
import { needs } from "./support/needs.ts";

async function deno(...args: string[]): Promise<{ success: boolean; text: string }> {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--cached-only", "--lock=deno.lock", "--frozen", ...args],
    cwd: ROOT,
  }).output();
  const decoder = new TextDecoder();
  return { success, text: decoder.decode(stdout) + decoder.decode(stderr) };
}

async function filesIn(folder: string): Promise<string[]> {
  const entries = await Array.fromAsync(Deno.readDir(folder));
  const found = await Promise.all(
    entries.map(({ name, isDirectory }) =>
      isDirectory ? filesIn(`${folder}/${name}`) : [`${folder}/${name}`]
    ),
  );
  return found.flat();
}

Deno.test({
  ...needs("the built form runs from any folder, without the sources and without a package", "sh"),
  async fn() {
    const dir = await Deno.realPath(await Deno.makeTempDir());
    try {
      // Folder names that a shell, a URL or a list of permissions might trip over.
      const folder = `${dir}/some lib/of it/dist`;
      const { success, text } = await deno("release/build.ts", folder);
      assert(success, text);
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
      const before = await filesIn(folder);
      assertEquals((await deno("release/build.ts", folder)).success, true);
      assertEquals((await filesIn(folder)).toSorted(), before.toSorted());
      assertEquals([...Deno.readDirSync(dirname(folder))].map(({ name }) => name), ["dist"]);
    } finally {
      await Deno.remove(dir, { recursive: true });
    }
  },
});
