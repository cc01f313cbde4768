import { assertEquals, assertRejects } from "@std/assert";
import { ServiceError } from "./errors.ts";
import { isOutOfReach, makePrivateDir } from "./private_dir.ts";

Deno.test("makePrivateDir() makes a folder of mode 0700, and narrows one that is wider", async () => {
  const root = await Deno.makeTempDir();
  try {
    const mode = async (path: string) => (await Deno.stat(path)).mode! & 0o777;
    await makePrivateDir(`${root}/a/b`);
    assertEquals([await mode(`${root}/a`), await mode(`${root}/a/b`)], [0o700, 0o700]);
    await Deno.chmod(`${root}/a/b`, 0o755);
    await makePrivateDir(`${root}/a/b`);
    assertEquals(await mode(`${root}/a/b`), 0o700);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});

Deno.test("makePrivateDir() refuses a link, and a folder of somebody else", async () => {
  const root = await Deno.makeTempDir();
  try {
    await Deno.mkdir(`${root}/real`);
    await Deno.symlink(`${root}/real`, `${root}/link`);
    await assertRejects(() => makePrivateDir(`${root}/link`), ServiceError, "it is no folder");
    const stranger = () => (Deno.uid() ?? 0) + 1;
    await assertRejects(
      () => makePrivateDir(`${root}/real`, stranger),
      ServiceError,
      `it belongs to the user ${Deno.uid()}`,
    );
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});

Deno.test("isOutOfReach() is false for a link and, in a shared place, for what others made or can write to", async () => {
  const root = await Deno.makeTempDir();
  try {
    await Deno.mkdir(`${root}/own`, { mode: 0o755 });
    await Deno.symlink(`${root}/own`, `${root}/link`);
    const stranger = () => (Deno.uid() ?? 0) + 1;
    assertEquals(await isOutOfReach(`${root}/own`, stranger), true, "the parent is ours alone");
    await Deno.chmod(root, 0o1777);
    assertEquals(await isOutOfReach(`${root}/own`), true);
    assertEquals(await isOutOfReach(`${root}/own`, stranger), false);
    await Deno.chmod(`${root}/own`, 0o777);
    assertEquals(await isOutOfReach(`${root}/own`), false);
    assertEquals(await isOutOfReach(`${root}/link`), false);
    assertEquals(await isOutOfReach(`${root}/none`), false);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});
