import { assertEquals, assertStringIncludes } from "@std/assert";
import { Instructions, MAX_INSTRUCTIONS_BYTES } from "./instructions.ts";

Deno.test("Instructions.of() reads AGENTS.md, never through a link, and states a cut", async () => {
  const dir = await Deno.makeTempDir();
  // As long after the last change as it likes.
  const instructions = new Instructions(() => Date.now() + 10_000);
  assertEquals(await instructions.of(dir), "");
  assertEquals(await instructions.of(`${dir}/absent`), "");
  await Deno.writeTextFile(`${dir}/AGENTS.md`, "Be brief.");
  assertEquals(await instructions.of(dir), "Be brief.");
  await Deno.writeTextFile(`${dir}/AGENTS.md`, "x".repeat(MAX_INSTRUCTIONS_BYTES + 1));
  const cut = await instructions.of(dir);
  assertStringIncludes(cut, `only the first ${MAX_INSTRUCTIONS_BYTES} are here`);
  await Deno.remove(`${dir}/AGENTS.md`);
  await Deno.writeTextFile(`${dir}/secret`, "the secret");
  await Deno.symlink(`${dir}/secret`, `${dir}/AGENTS.md`);
  assertEquals(await instructions.of(dir), "");
  await Deno.remove(dir, { recursive: true });
});

Deno.test("Instructions.of() opens a file again only when it was changed, or may have been", async () => {
  const dir = await Deno.makeTempDir();
  const { open } = Deno;
  let opened = 0;
  Deno.open = (...args) => {
    opened++;
    return open(...args);
  };
  try {
    await Deno.writeTextFile(`${dir}/AGENTS.md`, "one");
    const [fresh, settled] = [new Instructions(), new Instructions(() => Date.now() + 10_000)];
    for (const instructions of [fresh, fresh, settled, settled, settled]) {
      assertEquals(await instructions.of(dir), "one");
    }
    assertEquals(opened, 3);
    // Times of files are no finer than the kernel's tick, and a quick machine writes twice in one.
    await new Promise((resolve) => setTimeout(resolve, 20));
    await Deno.writeTextFile(`${dir}/AGENTS.md`, "two");
    assertEquals([await settled.of(dir), opened], ["two", 4]);
  } finally {
    Deno.open = open;
    await Deno.remove(dir, { recursive: true });
  }
});
