import { assertEquals } from "@std/assert";
import { rotatedLog } from "./rotated_log.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

async function withLog(
  use: (log: { path: string; write(text: string): Promise<number> }) => Promise<void>,
): Promise<void> {
  const dir = await Deno.makeTempDir();
  const path = `${dir}/service.log`;
  using file = await Deno.open(path, { append: true, create: true, mode: 0o600 });
  const stream = { write: (part: Uint8Array) => file.write(part) };
  const log = rotatedLog({ path, stream, maxBytes: 10 });
  try {
    await use({ path, write: (text) => log.write(bytes(text)) });
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
}

Deno.test("rotatedLog() keeps the newest files, each within the bound, for their owner alone", async () => {
  await withLog(async ({ path, write }) => {
    for (let line = 1; line <= 7; line++) await write(`line ${line}\n`);
    const texts = [path, ...[1, 2, 3, 4].map((number) => `${path}.${number}`)];
    assertEquals(
      await Promise.all(texts.map((each) => Deno.readTextFile(each))),
      ["line 7\n", "line 6\n", "line 5\n", "line 4\n", "line 3\n"],
    );
    assertEquals((await Deno.stat(`${path}.4`)).mode! & 0o777, 0o600);
    await Deno.lstat(`${path}.5`).then(() => {
      throw new Error("five files are kept");
    }, () => {});
  });
});

Deno.test("rotatedLog() stays bounded where no copy can be made", async () => {
  await withLog(async ({ path, write }) => {
    // A folder that holds something cannot be replaced by a file.
    await Deno.mkdir(`${path}.1/x`, { recursive: true });
    await Deno.mkdir(`${path}.2/x`, { recursive: true });
    for (let line = 0; line < 50; line++) {
      await write("12345\n");
      const { size } = await Deno.stat(path);
      assertEquals(size <= 26, true, String(size));
    }
  });
});
