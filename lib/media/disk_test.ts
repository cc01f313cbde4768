import { assertEquals, assertRejects } from "@std/assert";
import { needs } from "../../tests/support/needs.ts";
import { ServiceError } from "../base/errors.ts";
import { openDisk } from "./disk.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const modeOf = (path: string) => (Deno.statSync(path).mode ?? 0) & 0o777;

async function withFolder(run: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "media-test-" });
  try {
    await run(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** The message of the `internal` that it rejects with. */
async function failureOf(run: () => Promise<unknown>): Promise<string> {
  const error = await assertRejects(run, ServiceError);
  assertEquals(error.code, "internal");
  return error.message;
}

Deno.test({
  ...needs(
    "openDisk() makes the folder and its files for their owner alone, also where others could",
    "Unix",
  ),
  fn: () =>
    withFolder(async (folder) => {
      const disk = openDisk(`${folder}/media`);
      assertEquals([...Deno.readDirSync(folder)], []);
      await disk.write("a", bytes("one"));
      assertEquals([modeOf(`${folder}/media`), modeOf(`${folder}/media/a`)], [0o700, 0o600]);
      Deno.chmodSync(`${folder}/media`, 0o755);
      await disk.write("b", bytes(""));
      assertEquals(modeOf(`${folder}/media`), 0o700);
    }),
});

Deno.test("write() replaces a file, read() and remove() know what is not there", () =>
  withFolder(async (folder) => {
    const disk = openDisk(`${folder}/media`);
    assertEquals([await disk.read("a"), await disk.remove("a")], [undefined, false]);
    assertEquals(await Array.fromAsync(disk.names()), []);
    await disk.write("a", bytes("one"));
    await disk.write("a", bytes("two"));
    await disk.settle("a");
    assertEquals(await disk.read("a"), bytes("two"));
    assertEquals(await Array.fromAsync(disk.names()), ["a"]);
    assertEquals(await disk.remove("a"), true);
    assertEquals([...Deno.readDirSync(`${folder}/media`)], []);
  }));

Deno.test("write() makes the folder again when somebody took it away", () =>
  withFolder(async (folder) => {
    const disk = openDisk(`${folder}/media`);
    await disk.write("a", bytes("one"));
    await Deno.remove(`${folder}/media`, { recursive: true });
    await disk.write("b", bytes("two"));
    assertEquals(await disk.read("b"), bytes("two"));
  }));

Deno.test("write() that fails leaves nothing, and says why without the path or the bytes", () =>
  withFolder(async (folder) => {
    const disk = openDisk(`${folder}/media`);
    // A folder stands where the file should be.
    await Deno.mkdir(`${folder}/media/a/b`, { recursive: true });
    const message = await failureOf(() => disk.write("a", bytes("secret")));
    assertEquals(message, "Cannot write a file in the media folder: Is a directory (os error 21)");
    assertEquals(Array.from(Deno.readDirSync(`${folder}/media`), ({ name }) => name), ["a"]);
    assertEquals(await Array.fromAsync(disk.names()), []);
  }));

Deno.test("openDisk() says of every step that fails which it was", () =>
  withFolder(async (folder) => {
    Deno.writeTextFileSync(`${folder}/media`, "a file");
    const disk = openDisk(`${folder}/media`);
    const reason = "Not a directory (os error 20)";
    assertEquals(
      await failureOf(() => disk.write("a", bytes("x"))),
      `Cannot write a file in the media folder: ${reason}`,
    );
    assertEquals(
      await failureOf(() => disk.read("a")),
      `Cannot read a file in the media folder: ${reason}`,
    );
    assertEquals(
      await failureOf(() => disk.remove("a")),
      `Cannot remove a file in the media folder: ${reason}`,
    );
    assertEquals(
      await failureOf(() => Array.fromAsync(disk.names())),
      `Cannot list the media folder: ${reason}`,
    );
  }));

Deno.test("removeUnfinished() removes what a crash left, and not what is being written", () =>
  withFolder(async (folder) => {
    const disk = openDisk(folder);
    const left = `${folder}/${"a".repeat(64)}.${crypto.randomUUID()}.part`;
    await Deno.writeFile(left, bytes("half"));
    const writes = Array.from(
      { length: 8 },
      (_, n) => disk.write(`f${n}`, new Uint8Array(200_000)),
    );
    const sweeps = Promise.all(Array.from({ length: 8 }, () => disk.removeUnfinished()));
    await Promise.all(writes);
    assertEquals((await sweeps).reduce((sum, n) => sum + n), 1);
    assertEquals((await Array.fromAsync(disk.names())).length, 8);
    assertEquals([...Deno.readDirSync(folder)].length, 8);
  }));
