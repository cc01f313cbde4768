import { assertEquals } from "@std/assert";
import { removeUnpacked } from "./remove_unpacked.ts";

Deno.test("removeUnpacked() keeps what the program, the previous one and this process need", async () => {
  const dir = await Deno.makeTempDir();
  try {
    const name = (digit: string) => digit.repeat(16);
    for (const folder of [..."01234"].map(name)) {
      await Deno.mkdir(`${dir}/cache/${folder}/lib`, { recursive: true });
    }
    await Deno.mkdir(`${dir}/cache/deno`);
    await Deno.writeTextFile(
      `${dir}/service`,
      `#!/bin/sh\n# service\nhash=${name("1")}${name("9")}\n`,
    );
    await Deno.writeTextFile(`${dir}/.service.previous`, `#!/bin/sh\nhash=${name("2")}\n`);
    await removeUnpacked(`${dir}/service`, `${dir}/cache/${name("0")}`);
    const left = [...Deno.readDirSync(`${dir}/cache`)].map(({ name }) => name).toSorted();
    assertEquals(left, [name("0"), name("1"), name("2"), "deno"]);
    // A program that nothing unpacked, such as a checkout, has no neighbours of its own.
    await removeUnpacked(`${dir}/service`, `${dir}/cache/deno`);
    assertEquals([...Deno.readDirSync(`${dir}/cache`)].length, 4);
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
});
