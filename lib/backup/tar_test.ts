import { assert, assertEquals, assertRejects } from "@std/assert";
import fc from "fast-check";
import { readTar, tarEnd, TarError, type TarHeader, tarHeader, tarPadding } from "./tar.ts";
import { needs } from "../../tests/support/needs.ts";

interface Packed extends TarHeader {
  content: Uint8Array;
}

function packed(path: string, content = "", changes: Partial<TarHeader> = {}): Packed {
  const bytes = new TextEncoder().encode(content);
  const facts = { size: bytes.length, mode: 0o600, mtime: 1_700_000_000, isFolder: false };
  return { path, content: bytes, ...facts, ...changes };
}

function pack(entries: readonly Packed[]): Uint8Array {
  const parts = entries.flatMap(({ content, ...header }) => [
    tarHeader(header),
    content,
    tarPadding(content.length),
  ]);
  return new Uint8Array(
    [...parts, tarEnd()].flatMap((part) => [...part]),
  );
}

/** In pieces of a length, as a stream may bring them. */
function streamOf(bytes: Uint8Array, pieceBytes = 700): ReadableStream<Uint8Array> {
  return ReadableStream.from((function* () {
    for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.slice(at, at + pieceBytes);
  })());
}

async function unpack(bytes: Uint8Array, pieceBytes?: number): Promise<[string, string][]> {
  const found: [string, string][] = [];
  for await (const entry of readTar(streamOf(bytes, pieceBytes))) {
    const path = entry.isFolder ? `${entry.path}/` : entry.path;
    found.push([path, await new Response(ReadableStream.from(entry.bytes)).text()]);
  }
  return found;
}

Deno.test("readTar() gives what tarHeader() packed, whatever the names and the pieces", () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.tuple(
          fc.array(fc.string({ unit: "grapheme", minLength: 1, maxLength: 60 }), {
            minLength: 1,
            maxLength: 6,
          }).map((parts) => parts.join("/").replaceAll("\0", "0").replace(/\/$/, "x")),
          fc.string({ maxLength: 1_500 }),
        ),
        { maxLength: 4 },
      ),
      fc.integer({ min: 1, max: 2_000 }),
      async (files, pieceBytes) => {
        const bytes = pack(files.map(([path, content]) => packed(path, content)));
        const whole = files.map(([path, content]): [string, string] => [
          path.toWellFormed(),
          content.toWellFormed(),
        ]);
        assertEquals(await unpack(bytes, pieceBytes), whole);
      },
    ),
    { numRuns: 50 },
  ));

Deno.test(
  needs("tarHeader() writes what the system's tar reads, long names and folders too", "tar"),
  async () => {
    const folder = await Deno.makeTempDir();
    const long = `${"ordner/".repeat(40)}ü.txt`;
    const entries = [
      packed("a/empty", "", { isFolder: true }),
      packed("a/b.txt", "hello"),
      packed(long, "long"),
    ];
    await Deno.writeFile(`${folder}/a.tar`, pack(entries));
    const { stderr, code } = await new Deno.Command("tar", {
      args: ["xf", "a.tar"],
      cwd: folder,
    }).output();
    assertEquals([code, new TextDecoder().decode(stderr)], [0, ""]);
    assert((await Deno.stat(`${folder}/a/empty`)).isDirectory);
    assertEquals(await Deno.readTextFile(`${folder}/a/b.txt`), "hello");
    assertEquals(await Deno.readTextFile(`${folder}/${long}`), "long");
    await Deno.remove(folder, { recursive: true });
  },
);

Deno.test("tarHeader() keeps a size that the format has no room for", async () => {
  const size = 10 * 1024 ** 3;
  const bytes = tarHeader(packed("big", "", { size }));
  for await (const entry of readTar(streamOf(bytes))) {
    assertEquals([entry.path, entry.size], ["big", size]);
    break;
  }
});

Deno.test(
  needs("readTar() refuses links, devices and pipes that the system's tar packed", "tar", "mkfifo"),
  async () => {
    const folder = await Deno.makeTempDir();
    await Deno.writeTextFile(`${folder}/file`, "hello");
    await Deno.link(`${folder}/file`, `${folder}/hard`);
    await Deno.symlink("/etc/passwd", `${folder}/soft`);
    await new Deno.Command("mkfifo", { args: [`${folder}/pipe`] }).output();
    for (
      const [names, what] of [
        [["file", "hard"], '"hard" is a hard link'],
        [["soft"], '"soft" is a symbolic link'],
        [["pipe"], '"pipe" is a pipe'],
      ] as const
    ) {
      const { stdout } = await new Deno.Command("tar", {
        args: [
          "c",
          "--format=posix",
          "--pax-option=delete=mtime,delete=atime,delete=ctime",
          ...names,
        ],
        cwd: folder,
      }).output();
      const error = await assertRejects(() => unpack(stdout), TarError);
      assert(error.message.startsWith(what), error.message);
    }
    await Deno.remove(folder, { recursive: true });
  },
);

Deno.test("readTar() says what is wrong with an archive that was cut off or changed", async () => {
  const whole = pack([packed("a", "x".repeat(600)), packed("b".repeat(200), "y")]);
  for (let length = 0; length < whole.length - 1_024; length += 100) {
    await assertRejects(() => unpack(whole.slice(0, length)), TarError);
  }
  const changed = (at: number, byte: number) => {
    const bytes = whole.slice();
    bytes[at] = byte;
    return bytes;
  };
  for (const at of [0, 100, 124, 148, 156, 257]) {
    await assertRejects(() => unpack(changed(at, 0x39)), TarError);
  }
  await assertRejects(
    () => unpack(new Uint8Array([...whole, 1])),
    TarError,
    "something follows its end",
  );
});
