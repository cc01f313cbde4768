import { assertEquals, assertStringIncludes } from "@std/assert";
import { MAX_INSTRUCTIONS_BYTES, readInstructions } from "./instructions.ts";

Deno.test("readInstructions() reads AGENTS.md, never through a link, and states a cut", async () => {
  const dir = await Deno.makeTempDir();
  assertEquals(await readInstructions(dir), "");
  assertEquals(await readInstructions(`${dir}/absent`), "");
  await Deno.writeTextFile(`${dir}/AGENTS.md`, "Be brief.");
  assertEquals(await readInstructions(dir), "Be brief.");
  await Deno.writeTextFile(`${dir}/AGENTS.md`, "x".repeat(MAX_INSTRUCTIONS_BYTES + 1));
  const cut = await readInstructions(dir);
  assertStringIncludes(cut, `only the first ${MAX_INSTRUCTIONS_BYTES} are here`);
  await Deno.remove(`${dir}/AGENTS.md`);
  await Deno.writeTextFile(`${dir}/secret`, "the secret");
  await Deno.symlink(`${dir}/secret`, `${dir}/AGENTS.md`);
  assertEquals(await readInstructions(dir), "");
  await Deno.remove(dir, { recursive: true });
});
