import { assertEquals, assertThrows } from "@std/assert";
import type { PathTarget } from "../../contract/actions.ts";
import { resolvePath } from "../../policy/resolve/resolve.ts";
import { openChecked } from "./open_checked.ts";
import { noSkips, walk } from "./walk.ts";
import { writeWhole } from "./write_whole.ts";

/** A folder with `ws/a.txt` and `outside/secret.txt`, and its targets resolved before anything changes. */
async function withTarget(
  name: string,
  access: "read" | "write",
  test: (root: string, target: PathTarget) => void,
): Promise<void> {
  const root = await Deno.realPath(await Deno.makeTempDir());
  try {
    await Deno.mkdir(`${root}/ws/sub`, { recursive: true });
    await Deno.mkdir(`${root}/outside`);
    await Deno.writeTextFile(`${root}/ws/sub/a.txt`, "a");
    await Deno.writeTextFile(`${root}/outside/a.txt`, "secret");
    const workspace = { path: `${root}/ws`, real: `${root}/ws` };
    test(root, await resolvePath(name, access, workspace) as PathTarget);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
}

Deno.test("openChecked() refuses a file that was swapped for a link after the check", async () => {
  await withTarget("sub/a.txt", "read", (root, target) => {
    openChecked(target, "a.txt").close();
    Deno.removeSync(target.real);
    Deno.symlinkSync(`${root}/outside/a.txt`, target.real);
    assertThrows(() => openChecked(target, "a.txt"), Error, "a.txt changed while");
  });
});

Deno.test("openChecked() refuses a file whose folder was swapped for a link", async () => {
  await withTarget("sub/a.txt", "read", (root, target) => {
    Deno.renameSync(`${root}/ws/sub`, `${root}/ws/old`);
    Deno.symlinkSync(`${root}/outside`, `${root}/ws/sub`);
    assertThrows(() => openChecked(target, "a.txt"), Error, "changed");
  });
});

Deno.test("writeWhole() refuses a place that changed after the check, and leaves it", async () => {
  const changes: [string, string, (root: string) => void][] = [
    ["folder swapped", "sub/a.txt", (root) => {
      Deno.renameSync(`${root}/ws/sub`, `${root}/ws/old`);
      Deno.symlinkSync(`${root}/outside`, `${root}/ws/sub`);
    }],
    ["file swapped for a link", "sub/a.txt", (root) => {
      Deno.removeSync(`${root}/ws/sub/a.txt`);
      Deno.symlinkSync(`${root}/outside/a.txt`, `${root}/ws/sub/a.txt`);
    }],
    ["file gone", "sub/a.txt", (root) => Deno.removeSync(`${root}/ws/sub/a.txt`)],
    [
      "new file made meanwhile",
      "sub/new.txt",
      (root) => Deno.writeTextFileSync(`${root}/ws/sub/new.txt`, "theirs"),
    ],
    [
      "new folder made as a link",
      "sub/new/b.txt",
      (root) => Deno.symlinkSync(`${root}/outside`, `${root}/ws/sub/new`),
    ],
  ];
  for (const [name, path, change] of changes) {
    await withTarget(path, "write", (root, target) => {
      change(root);
      assertThrows(() => writeWhole(target, new Uint8Array([1]), name), Error, `${name} changed`);
      assertEquals([...Deno.readDirSync(`${root}/outside`)].map((entry) => entry.name), ["a.txt"]);
      assertEquals(Deno.readTextFileSync(`${root}/outside/a.txt`), "secret");
      const left = [...Deno.readDirSync(`${root}/ws`)].flatMap((entry) =>
        entry.isDirectory ? [...Deno.readDirSync(`${root}/ws/${entry.name}`)] : []
      );
      assertEquals(left.filter((entry) => entry.name.includes(".writing-")), []);
    });
  }
});

Deno.test("writeWhole() removes what a killed writer left long ago, and only that", async () => {
  await withTarget("sub/a.txt", "write", (root, target) => {
    const folder = `${root}/ws/sub`;
    for (const name of [".a.txt.writing-old", ".a.txt.writing-new", ".b.txt.writing-old"]) {
      Deno.writeTextFileSync(`${folder}/${name}`, "half");
    }
    const hourAgo = new Date(Date.now() - 3_600_000);
    Deno.utimeSync(`${folder}/.a.txt.writing-old`, hourAgo, hourAgo);
    Deno.utimeSync(`${folder}/.b.txt.writing-old`, hourAgo, hourAgo);
    writeWhole(target, new TextEncoder().encode("b"), "a.txt");
    assertEquals(Deno.readTextFileSync(target.real), "b");
    assertEquals([...Deno.readDirSync(folder)].map((entry) => entry.name).sort(), [
      ".a.txt.writing-new",
      ".b.txt.writing-old",
      "a.txt",
    ]);
  });
});

Deno.test("walk() shows nothing of a folder that is a link by now", async () => {
  await withTarget("sub", "read", (root) => {
    const skips = noSkips();
    const seen: string[] = [];
    for (const entry of walk(`${root}/ws`, { maxDepth: 3 }, skips)) {
      seen.push(entry.relative);
      if (entry.relative !== "sub") continue;
      Deno.renameSync(`${root}/ws/sub`, `${root}/ws/old`);
      Deno.symlinkSync(`${root}/outside`, `${root}/ws/sub`);
    }
    assertEquals(seen, ["sub"]);
    assertEquals(skips.unreadable, 1);
  });
});
