import { assert, assertEquals, assertRejects } from "@std/assert";
import { basename, relative, SEPARATOR } from "@std/path";
import fc from "fast-check";
import { InboundFiles, removeLeftFiles } from "./inbound_files.ts";
import { rounds } from "../../../tests/support/rounds.ts";
import { anyString } from "../../../tests/support/any_string.ts";

const MEBIBYTE = 1024 * 1024;

async function withStateDir(test: (stateDir: string) => Promise<void>): Promise<void> {
  const stateDir = await Deno.makeTempDir();
  try {
    await test(stateDir);
  } finally {
    await Deno.remove(stateDir, { recursive: true });
  }
}

Deno.test("write() keeps files of the same name apart, for this user alone", async () => {
  await withStateDir(async (stateDir) => {
    const files = new InboundFiles(stateDir);
    const one = await files.write("a report.pdf", new Uint8Array([1]));
    const two = await files.write("a report.pdf", new Uint8Array([2]));
    assertEquals(files.paths, [one, two]);
    assertEquals([basename(one), basename(two)], ["a report.pdf", "a report.pdf"]);
    assertEquals(await Deno.readFile(one), new Uint8Array([1]));
    if (Deno.build.os !== "windows") assertEquals((await Deno.stat(two)).mode! & 0o777, 0o600);
    await files.remove();
    await assertRejects(() => Deno.stat(one), Deno.errors.NotFound);
    await files.remove();
  });
});

Deno.test("roomBytes and isFull say what the service takes yet", async () => {
  await withStateDir(async (stateDir) => {
    const files = new InboundFiles(stateDir);
    assertEquals([files.roomBytes, files.isFull], [8 * MEBIBYTE, false]);
    await files.write("a", new Uint8Array(8 * MEBIBYTE));
    const voice = await files.write("b", new Uint8Array(8 * MEBIBYTE));
    await files.write("c", new Uint8Array(7 * MEBIBYTE));
    assertEquals(files.roomBytes, MEBIBYTE);
    files.leaveOut(voice);
    assertEquals([files.roomBytes, files.paths.length], [8 * MEBIBYTE, 2]);
    await files.write("d", new Uint8Array(1));
    await files.write("e", new Uint8Array(1));
    assertEquals(files.isFull, true);
  });
});

Deno.test("write() takes any name, and stays in the folder", async () => {
  await withStateDir(async (stateDir) => {
    const files = new InboundFiles(stateDir);
    for (
      const [name, expected] of [
        ["../../etc/passwd", "_.._etc_passwd"],
        ["", "file"],
        ["...", "file"],
        [".bashrc", "bashrc"],
        ["a\u0000b\n.txt", "a_b_.txt"],
        [`${"é".repeat(300)}.jpeg`, `${"é".repeat(55)}.jpeg`],
      ]
    ) {
      assertEquals(basename(await files.write(name!, new Uint8Array())), expected);
    }
    await fc.assert(
      fc.asyncProperty(anyString({ maxLength: 400 }), async (name) => {
        const path = await files.write(name, new Uint8Array());
        assertEquals(relative(stateDir, path).split(SEPARATOR).length, 4);
        assert((await Deno.stat(path)).isFile);
      }),
      { numRuns: rounds(25) },
    );
  });
});

Deno.test("removeLeftFiles() removes what a killed process has left", async () => {
  await withStateDir(async (stateDir) => {
    const path = await new InboundFiles(stateDir).write("a", new Uint8Array(1));
    await removeLeftFiles(stateDir);
    await assertRejects(() => Deno.stat(path), Deno.errors.NotFound);
    await removeLeftFiles(stateDir);
  });
});
